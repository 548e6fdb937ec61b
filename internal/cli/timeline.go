package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/render"
)

type timelineFlags struct {
	namespace    string
	logs         []string
	since, until string
	follow       bool
	output       string
}

func timelineCommand(sess *term.Session) *cobra.Command {
	var f timelineFlags
	c := &cobra.Command{
		Use:   "timeline [pod NAME | ip ADDRESS | sandbox ID]",
		Short: "Show from logs what happened to the network of a pod, and why",
		Long: "Reads logs of kubelet, container runtime, Calico and Kubernetes (2017 to today)\n" +
			"and shows each sandbox that the pod had, its CNI calls, and what they prove.\n" +
			"Without --logs the agents of the nodes concerned send the lines; with --logs and\n" +
			"no argument, all problems in the logs are listed. Credentials are never shown.",
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
				return runTimelineAll(cmd.Context(), sess, f)
			}
			return runTimeline(cmd.Context(), sess, args[0], args[1], f)
		},
	}
	l := c.Flags()
	l.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the pod")
	l.StringSliceVar(&f.logs, "logs", nil, "file, directory, archive, or - for stdin; may be repeated")
	l.StringVar(&f.since, "since", "", "only events after this time (RFC 3339) or duration before now")
	l.StringVar(&f.until, "until", "", "only events before this time")
	l.BoolVarP(&f.follow, "follow", "f", false, "follow the files and show new events")
	l.StringVarP(&f.output, "output", "o", "text", "text, wide, json or html")
	return c
}

// logMemory is what reading logs of any size should do with.
const logMemory = 256 << 20

func runTimeline(ctx context.Context, sess *term.Session, kind, name string, f timelineFlags) error {
	debug.SetMemoryLimit(logMemory)
	q, err := asked(sess, kind, name, f)
	if err != nil {
		return err
	}
	if f.follow {
		return followTimeline(ctx, sess, q, f)
	}
	var log *timeline.Log
	var missing []string
	if len(f.logs) > 0 {
		log, err = sess.ReadLogs(ctx, f.logs, q.LogQuestion)
	} else {
		log, missing, err = agentLogs(ctx, sess, q)
	}
	if err != nil {
		return err
	}
	return showTimeline(sess, log, q, f, missing)
}

// agentLogs asks the agents of the nodes concerned for their lines.
func agentLogs(ctx context.Context, sess *term.Session, q question) (*timeline.Log, []string, error) {
	o, done := sess.Options()
	defer done()
	return cluster.Logs(ctx, o, q.LogQuestion)
}

// runTimelineAll judges logs as a whole.
func runTimelineAll(ctx context.Context, sess *term.Session, f timelineFlags) error {
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

// A question is whose timeline is asked for, and of which time.
type question struct{ cluster.LogQuestion }

func names(stories []*timeline.Story) string {
	var out []string
	for _, s := range stories {
		out = append(out, s.Pod)
	}
	return term.Line(strings.Join(out, ", "))
}

// cutPod parts NAMESPACE/NAME.
func cutPod(pod string) (ns, name string, ok bool) {
	ns, name, ok = strings.Cut(pod, "/")
	return ns, name, ok && name != ""
}

func (q question) String() string {
	switch {
	case q.Pod != "":
		return "pod " + q.Pod
	case q.IP.IsValid():
		return "ip " + q.IP.String()
	default:
		return "sandbox " + q.Sandbox
	}
}

// window is the time asked for.
func window(f timelineFlags) (q question, err error) {
	now := time.Now() //nolint:forbidigo // --since 2h is before now
	if err := term.OutputOneOf(f.output, "text", "wide", "json", "html"); err != nil {
		return q, err
	}
	if q.Since, err = term.ParseTime(f.since, now); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if q.Until, err = term.ParseTime(f.until, now); err != nil {
		return q, fmt.Errorf("--until: %w", err)
	}
	return q, nil
}

func asked(sess *term.Session, kind, name string, f timelineFlags) (question, error) {
	q, err := window(f)
	if err != nil {
		return q, err
	}
	switch kind {
	case "pod", "pods", "po":
		ns, pod := sess.PodNamed(name, f.namespace)
		q.Pod = ns + "/" + pod
	case "ip":
		if q.IP, err = netip.ParseAddr(name); err != nil {
			return q, err
		}
	case "sandbox":
		if len(name) < 8 || strings.Trim(strings.ToLower(name), "0123456789abcdef") != "" {
			return q, fmt.Errorf("sandbox %q: want at least 8 hexadecimal digits of its ID", name)
		}
		q.Sandbox = strings.ToLower(name)
	default:
		return q, fmt.Errorf("timeline %s: want pod, ip or sandbox", kind)
	}
	return q, nil
}

var errNoTrace = errors.New("no line of these logs mentions it")

// storiesOf gives what the logs tell of what was asked for, judged.
func storiesOf(log *timeline.Log, q question) []*timeline.Story {
	var pods []string
	switch {
	case q.Pod != "":
		pods = []string{q.Pod}
	case q.IP.IsValid():
		pods = log.PodsOf(q.IP)
	default:
		pods = log.PodsOfSandbox(q.Sandbox)
	}
	shared := timeline.JudgeAddresses(log)
	var out []*timeline.Story
	for _, p := range pods {
		s := log.Pod(p)
		if s == nil || len(s.Events) == 0 {
			continue
		}
		timeline.Judge(s)
		for _, v := range shared {
			if v.Pod == p || strings.Contains(v.Says, " "+p+" ") { // who got it, and who had it
				s.Verdicts = append(s.Verdicts, v)
			}
		}
		out = append(out, s)
	}
	return out
}

func showTimeline(sess *term.Session, log *timeline.Log, q question, f timelineFlags, missing []string) error {
	stories := storiesOf(log, q)
	for _, m := range missing {
		fmt.Fprintln(sess.Stderr, term.Line(m))
	}
	if len(stories) == 0 {
		return fmt.Errorf("%s: %w", q, errNoTrace)
	}
	o := render.Options{Width: sess.Width(), Files: log.Files()}
	if f.output == "wide" {
		o.Width = 0
	}
	switch f.output {
	case "json":
		return sess.PrintDocument(timelineDocument(log, q, stories, missing), "json")
	case "html":
		if len(stories) > 1 {
			return fmt.Errorf("%s: several pods had it: pass one of %s", q, names(stories))
		}
		return render.HTML(sess.Stdout, stories[0], o)
	}
	for i, s := range stories {
		if i > 0 {
			fmt.Fprintln(sess.Stdout)
		}
		if err := render.Text(sess.Stdout, s, o); err != nil {
			return err
		}
	}
	ns, pod, _ := cutPod(stories[0].Pod)
	sess.Next("explain pod %s -n %s", term.Line(pod), term.Line(ns))
	return nil
}
