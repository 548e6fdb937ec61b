package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
)

func (g *global) collect() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "collect --save FILE",
		Short: "Write what check reads into a file, for check --bundle",
		Long: "Writes names, addresses, states and Calico IPAM records. Secrets, environment\n" +
			"variables, labels, and annotations other than Calico's are never read, so they\n" +
			"are not in the file.",
		Example: fmt.Sprintf("  %[1]s collect --save cluster.tar.gz\n  %[1]s check --bundle cluster.tar.gz", g.prog),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return errors.New("pass --save FILE")
			}
			return g.runCollect(cmd.Context(), file)
		},
	}
	c.Flags().StringVar(&file, "save", "", "file to write (tar.gz)")
	return c
}

func (g *global) runCollect(ctx context.Context, file string) error {
	s, err := g.collected(ctx)
	if err != nil {
		return err
	}
	rows := len(s.Pods) + len(s.Nodes) + len(s.Blocks) + len(s.Handles) + len(s.Affinities) + len(s.Endpoints)
	fmt.Fprintf(g.Stderr, "writing %s rows, about %s\n", thousands(rows), size(int64(rows)*bytesPerRow))
	written, err := cluster.WriteBundle(file, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Stdout, "Wrote    %s, %s: %s pods, %s nodes, %s blocks, %s handles\n", file, size(written), thousands(len(s.Pods)), thousands(len(s.Nodes)), thousands(len(s.Blocks)), thousands(len(s.Handles)))
	for _, c := range s.Coverage {
		if c.Node == "" && (c.State == model.Lost || c.State == model.Partial) {
			fmt.Fprintf(g.Stdout, "Not read %s: %s\n", c.Table, line(c.Reason))
		}
	}
	if len(s.NodeState) == 0 {
		fmt.Fprintln(g.Stdout, "Not read node state (no agents installed)")
	}
	g.next("check --bundle %s", file)
	return nil
}

// bytesPerRow is what a row of a real cluster takes, compressed.
const bytesPerRow = 120

// collected reads the cluster, or a bundle.
func (g *global) collected(ctx context.Context) (*model.Snapshot, error) {
	if g.bundle != "" {
		return cluster.ReadBundle(g.bundle)
	}
	c, done, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer c.Close()
	return c.Collect(ctx)
}
