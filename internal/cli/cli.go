// Package cli is the command line: the root command, the flags that all commands have, and the
// verbs, each in a package of its own. They parse, call cluster, and print; they hold no logic
// that a controller would need too.
package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/cli/check"
	"plumbline.dev/plumbline/internal/cli/demo"
	"plumbline.dev/plumbline/internal/cli/explain"
	"plumbline.dev/plumbline/internal/cli/guard"
	"plumbline.dev/plumbline/internal/cli/ipam"
	"plumbline.dev/plumbline/internal/cli/repair"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/timeline"
	"plumbline.dev/plumbline/internal/cli/ui"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// An Env is what the program has of its process.
type Env = term.Env

// Main runs a command line and gives the exit code.
func Main(ctx context.Context, env Env) int {
	sess := &term.Session{Env: env, Program: "plumbline", Cluster: cluster.Options{Version: buildinfo.Read().Version}}
	if strings.HasPrefix(filepath.Base(env.Args[0]), "kubectl-") {
		sess.Program = "kubectl plumbline"
	}
	root := rootCommand(sess)
	root.SetArgs(env.Args[1:])
	err := root.ExecuteContext(ctx)
	var code term.Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	default:
		fmt.Fprintf(env.Stderr, "error: %s\n", plain.Clean(strings.ReplaceAll(advise(err), "\t", "  ")))
		return int(term.ExitUsage)
	}
}

func rootCommand(sess *term.Session) *cobra.Command {
	root := &cobra.Command{
		Use:   "plumbline",
		Short: "Find and repair drift between Kubernetes, Calico IPAM and the nodes",
		Long: "Plumbline compares three sources: Kubernetes (which pods run), the Calico\n" +
			"datastore (which address belongs to which pod) and the nodes (kernel and\n" +
			"runtime). It finds where they differ, explains why, and repairs it. Only apply\n" +
			"and undo change anything.",
		SilenceUsage: true, SilenceErrors: true, Version: sess.Cluster.Version,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: sess.Program},
	}
	root.SetIn(sess.Stdin)
	root.SetOut(sess.Stdout)
	root.SetErr(sess.Stderr)
	f := root.PersistentFlags()
	connectionFlags(f, &sess.Cluster)
	f.BoolVar(&sess.Cluster.Kube.Gentle, "gentle", false, "read one list at a time: slower, less load on the API server")
	f.BoolVar(&sess.Cluster.Kube.Forward, "port-forward", false, "reach agents by port-forward, where the API server cannot reach their port")
	f.StringVar(&sess.Bundle, "bundle", "", "check a file written by collect instead of a cluster")
	f.StringVar(&sess.Cluster.Datastore, "datastore", "auto", "Calico datastore: auto, kdd (Kubernetes) or etcd")
	f.StringSliceVar(&sess.Cluster.Etcd.Endpoints, "etcd-endpoints", nil, "endpoints of Calico's etcd")
	f.StringVar(&sess.Cluster.Etcd.CACert, "etcd-cacert", "", "certificate authority of Calico's etcd")
	f.StringVar(&sess.Cluster.Etcd.Cert, "etcd-cert", "", "client certificate for Calico's etcd")
	f.StringVar(&sess.Cluster.Etcd.Key, "etcd-key", "", "key of the client certificate")
	term.VerboseFlag(f, &sess.Verbose, "print on stderr what is read and how long it takes")
	root.AddCommand(check.StatusCommand(sess, guard.Summary), check.Command(sess), explain.Command(sess),
		repair.PlanCommand(sess), repair.ApplyCommand(sess), repair.UndoCommand(sess), repair.HistoryCommand(sess),
		timeline.Command(sess), guard.Command(sess), ui.Command(sess), check.CollectCommand(sess), ipam.Command(sess), demo.Command(sess, again(sess)), versionCommand(sess), schemaCommand(sess))
	complete(root, sess)
	root.SetUsageTemplate(strings.NewReplacer( // so that it fits a terminal
		".LocalFlags.FlagUsages", ".LocalFlags.FlagUsagesWrapped 80", ".InheritedFlags.FlagUsages", ".InheritedFlags.FlagUsagesWrapped 80",
	).Replace(root.UsageTemplate()))
	return root
}

// again runs another command line in this process, with nothing of this one's flags.
func again(sess *term.Session) func(ctx context.Context, args ...string) error {
	return func(ctx context.Context, args ...string) error {
		own := &term.Session{Env: sess.Env, Program: sess.Program, Cluster: cluster.Options{Version: sess.Cluster.Version}}
		own.Args = append([]string{sess.Args[0]}, args...)
		root := rootCommand(own)
		root.SetArgs(args)
		return root.ExecuteContext(ctx)
	}
}

// advise adds what a person can do about an error that only they can mend.
func advise(err error) string {
	s := err.Error()
	switch {
	case errors.Is(err, cluster.ErrUnreachable):
		s += "\nCheck --kubeconfig and --context."
	case errors.Is(err, cluster.ErrNoCRDs):
		s += "\nIf Calico uses the etcd datastore, pass --etcd-endpoints and its certificates."
	}
	return s
}
