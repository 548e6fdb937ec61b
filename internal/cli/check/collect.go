package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
)

// CollectCommand is the command collect.
func CollectCommand(sess *term.Session) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "collect --save FILE",
		Short: "Write what check reads into a file, for check --bundle",
		Long: "Writes names, addresses, states and Calico IPAM records. Secrets, environment\n" +
			"variables, labels, and annotations other than Calico's are never read, so they\n" +
			"are not in the file.",
		Example: fmt.Sprintf("  %[1]s collect --save cluster.tar.gz\n  %[1]s check --bundle cluster.tar.gz", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return errors.New("pass --save FILE")
			}
			return runCollect(cmd.Context(), sess, file)
		},
	}
	c.Flags().StringVar(&file, "save", "", "file to write (tar.gz)")
	return c
}

func runCollect(ctx context.Context, sess *term.Session, file string) error {
	s, err := collected(ctx, sess)
	if err != nil {
		return err
	}
	rows := len(s.Pods) + len(s.Nodes) + len(s.Blocks) + len(s.Handles) + len(s.Affinities) + len(s.Endpoints)
	fmt.Fprintf(sess.Stderr, "writing %s rows, about %s\n", term.Thousands(rows), term.Size(int64(rows)*bytesPerRow))
	written, err := cluster.WriteBundle(file, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(sess.Stdout, "Wrote    %s, %s: %s pods, %s nodes, %s blocks, %s handles\n", file, term.Size(written), term.Thousands(len(s.Pods)), term.Thousands(len(s.Nodes)), term.Thousands(len(s.Blocks)), term.Thousands(len(s.Handles)))
	for _, c := range s.Coverage {
		if c.Node == "" && (c.State == model.Lost || c.State == model.Partial) {
			fmt.Fprintf(sess.Stdout, "Not read %s: %s\n", c.Table, term.Line(c.Reason))
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
