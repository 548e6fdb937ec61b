// Package timeline is the verb timeline: it reads logs, from files or from agents, and shows
// what happened to the network of a pod.
package timeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/timeline"
)

// flags say which logs to read, of which time, and how to show them.
type flags struct {
	namespace    string
	logs         []string
	since, until string
	zone         string
	account      string
	follow       bool
	output       string
}

// Command is the command timeline.
func Command(sess *term.Session) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "timeline [pod NAME | ip ADDRESS | sandbox ID]",
		Short: "Show from logs what happened to the network of a pod, and why",
		Long: "Reads logs of kubelet, container runtime, Calico and Kubernetes (2017 to today)\n" +
			"and shows each sandbox that the pod had, its CNI calls, and what they prove.\n" +
			"Without --logs the agents of the nodes concerned send the lines; with --logs and\n" +
			"no argument, all problems in the logs are listed. Recognised credentials\n" +
			"are masked.\n\n" +
			"Exit code: 0 all logs were read; 1 (without an argument) there is a verdict, a\n" +
			"failed call or an unexplained removal; 2 no line is of a known component; 3 a\n" +
			"file was not read completely, or a tenth of it is of no known form.",
		Example: fmt.Sprintf("  %[1]s timeline pod db-0 -n shop\n  %[1]s timeline --logs /var/log\n"+
			"  journalctl -o export | %[1]s timeline sandbox 41857f70ed13 --logs -\n  %[1]s timeline ip 10.244.8.34 --logs logs.tar.gz -o html > t.html", sess.Program),
		Args: cobra.MatchAll(cobra.MaximumNArgs(2), func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return fmt.Errorf("timeline %s: name one", args[0])
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return runAll(cmd.Context(), sess, f)
			}
			return run(cmd.Context(), sess, args[0], args[1], f)
		},
	}
	c.ValidArgsFunction = cobra.FixedCompletions([]string{"pod\twhat happened to a pod", "ip\tthe pods that had an address", "sandbox\tthe pod of a sandbox"}, cobra.ShellCompDirectiveNoFileComp)
	l := c.Flags()
	l.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the pod")
	l.StringSliceVar(&f.logs, "logs", nil, "file, directory, archive, or - for stdin; may be repeated")
	l.StringVar(&f.since, "since", "", "only events after this time (RFC 3339) or duration before now")
	l.StringVar(&f.until, "until", "", "only events before this time")
	l.StringVar(&f.zone, "tz", "", "time zone of timestamps that show none, such as\nAsia/Shanghai or +08:00")
	l.StringVar(&f.account, "account", "", "NAMESPACE/NAME of the account whose rights\ncount (default plumbline-log-reader)")
	l.BoolVarP(&f.follow, "follow", "f", false, "follow the files and show new events")
	term.OutputFlag(l, &f.output, "text", "wide", "json", "html")
	return c
}

// logMemory is the soft limit of memory, however large the logs are.
const logMemory = 256 << 20

func run(ctx context.Context, sess *term.Session, kind, name string, f flags) error {
	debug.SetMemoryLimit(logMemory)
	q, err := asked(sess, kind, name, f)
	if err != nil {
		return err
	}
	if f.follow {
		return follow(ctx, sess, q, f)
	}
	var log *timeline.Log
	var missing []string
	if len(f.logs) > 0 {
		log, err = sess.ReadLogs(ctx, f.logs, q.LogQuestion)
	} else {
		log, missing, err = agentLogs(ctx, sess, q, f.account)
	}
	if err != nil {
		return err
	}
	return show(sess, log, q, f, missing)
}

// agentLogs asks the agents of the nodes concerned for their lines.
func agentLogs(ctx context.Context, sess *term.Session, q question, account string) (*timeline.Log, []string, error) {
	if sess.Bundle != "" {
		return nil, nil, errors.New("--bundle: not with timeline: a bundle has no logs; pass --logs")
	}
	o, done := sess.Options()
	defer done()
	o.Kube.Account = account
	return cluster.Logs(ctx, o, q.LogQuestion)
}

// runAll judges logs as a whole.
func runAll(ctx context.Context, sess *term.Session, f flags) error {
	if len(f.logs) == 0 || f.follow {
		return errAllNeedsLogs
	}
	debug.SetMemoryLimit(logMemory)
	q, err := window(f)
	if err != nil {
		return err
	}
	log, err := sess.ReadLogs(ctx, f.logs, q.LogQuestion)
	if err != nil {
		return err
	}
	return showAll(sess, log, f.output)
}
