package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// CollectCommand is the command collect.
func CollectCommand(sess *term.Session) *cobra.Command {
	var f collectFlags
	c := &cobra.Command{
		Use:   "collect [pod NAME] --save FILE",
		Short: "Write what check reads into a file, for check --bundle",
		Long: "Writes names, addresses, states and Calico IPAM records. Secrets, environment\n" +
			"variables, labels, and annotations other than Calico's are never read, so they\n" +
			"are not in the file.\n\n" +
			"With pod NAME it writes what surrounds that pod, and the lines about it in the\n" +
			"logs and event logs of its nodes (needs agents): the evidence, before the pod is\n" +
			"evicted or removed. Specifications of containers, and credentials that are\n" +
			"recognised, are taken out of the lines on the node; check the file before you\n" +
			"give it to others.",
		Example: fmt.Sprintf("  %[1]s collect --save cluster.tar.gz\n  %[1]s check --bundle cluster.tar.gz\n"+
			"  %[1]s collect pod db-0 -n shop --save db-0.tar.gz\n  %[1]s timeline --logs db-0.tar.gz", sess.Program),
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.file == "" {
				return errors.New("pass --save FILE")
			}
			switch {
			case len(args) == 0:
				return runCollect(cmd.Context(), sess, f.file)
			case len(args) == 2 && slices.Contains([]string{"pod", "pods", "po"}, args[0]):
				ns, pod := sess.PodNamed(args[1], f.namespace)
				return runCollectPod(cmd.Context(), sess, ns, pod, f)
			default:
				return fmt.Errorf("collect %s: want nothing, or pod NAME", strings.Join(args, " "))
			}
		},
	}
	c.Flags().StringVar(&f.file, "save", "", "file to write (tar.gz)")
	c.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace of the pod")
	c.Flags().StringVar(&f.since, "since", "", "of logs: only lines since then: 2h or 2026-11-15T10:00:00Z; default: all")
	return c
}

// collectFlags say what to collect, and where to.
type collectFlags struct {
	file, namespace, since string
}

func runCollect(ctx context.Context, sess *term.Session, file string) error {
	s, err := collected(ctx, sess)
	if err != nil {
		return err
	}
	rows := len(s.Pods) + len(s.Nodes) + len(s.Blocks) + len(s.Handles) + len(s.Affinities) + len(s.Endpoints)
	fmt.Fprintf(sess.Stderr, "writing %s rows, about %s\n", plain.Thousands(rows), plain.Size(int64(rows)*bytesPerRow))
	written, err := cluster.WriteBundle(file, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(sess.Stdout, "Wrote    %s, %s: %s pods, %s nodes, %s blocks, %s handles\n", file, plain.Size(written), plain.Thousands(len(s.Pods)), plain.Thousands(len(s.Nodes)), plain.Thousands(len(s.Blocks)), plain.Thousands(len(s.Handles)))
	for _, c := range s.Coverage {
		if c.Node == "" && (c.State == model.Lost || c.State == model.Partial) {
			fmt.Fprintf(sess.Stdout, "Not read %s: %s\n", c.Table, plain.Line(c.Reason))
		}
	}
	if len(s.NodeState) == 0 {
		fmt.Fprintln(sess.Stdout, "Not read node state (no agents installed)")
	}
	sess.Next("check --bundle %s", file)
	return nil
}

// bytesPerRow is what a row of a real cluster takes, compressed.
const bytesPerRow = 120

// collected reads the cluster, or a bundle.
func collected(ctx context.Context, sess *term.Session) (*model.Snapshot, error) {
	if sess.Bundle != "" {
		return cluster.ReadBundle(sess.Bundle)
	}
	c, done, err := sess.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer c.Close()
	return c.Collect(ctx)
}
