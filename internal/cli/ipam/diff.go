package ipam

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/ipamdiff"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

type diffFlags struct {
	output string
	all    bool
}

func diffCommand(sess *term.Session) *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff FILE [FILE]",
		Short: "Show which addresses have another owner than in a backup",
		Long: "Compares the IPAM records of a file, of ipam backup or collect, with those of\n" +
			"the cluster now, or of a second file. An address is moved if it has another\n" +
			"owner, lost if it is free, gained if it was free. It is renewed if its pod was\n" +
			"made anew with the same name: such are counted, and listed with --all.\n\n" +
			"Exit codes: 0 nothing differs, 1 something does, 2 the comparison failed.",
		Example: fmt.Sprintf("  %[1]s ipam diff monday.tar.gz\n  %[1]s ipam diff monday.tar.gz tuesday.tar.gz -o json", sess.Program),
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return diff(cmd.Context(), sess, args, f)
		},
	}
	term.OutputFlag(c.Flags(), &f.output, "text", "json", "name")
	c.Flags().BoolVar(&f.all, "all", false, "also list addresses of pods that were made anew")
	return c
}

// A document is what -o prints.
type document struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Then       model.Time `json:"then"`
	Now        model.Time `json:"now"`
	ipamdiff.Diff
}

func diff(ctx context.Context, sess *term.Session, files []string, f diffFlags) error {
	was, err := cluster.ReadBundle(files[0])
	if err != nil {
		return err
	}
	var is *model.Snapshot
	if len(files) == 2 {
		is, err = cluster.ReadBundle(files[1])
	} else {
		is, err = records(ctx, sess)
	}
	if err != nil {
		return err
	}
	if was.Meta.GUID != "" && is.Meta.GUID != "" && was.Meta.GUID != is.Meta.GUID {
		return fmt.Errorf("%s is of another cluster: %s, not %s", files[0], plain.Line(was.Meta.GUID), plain.Line(is.Meta.GUID))
	}
	then, now := was.Meta.Taken, is.Meta.Taken
	d := ipamdiff.Compare(model.Seal(was), model.Seal(is))
	if len(d.NotRead) > 0 {
		return fmt.Errorf("nothing can be compared: %s", strings.Join(d.NotRead, "; "))
	}
	switch {
	case term.IsDocument(f.output):
		d.Addresses, d.Blocks = term.NotNil(d.Addresses), term.NotNil(d.Blocks)
		err = sess.PrintDocument(document{APIVersion: "plumbline.dev/v1alpha1", Kind: "IPAMDiff", Then: then, Now: now, Diff: d}, f.output)
	case f.output == "name":
		term.PrintNames(sess, d.Addresses, func(a *ipamdiff.Address) string { return a.IP.String() })
		term.PrintNames(sess, d.Blocks, func(b *ipamdiff.Block) string { return b.CIDR.String() })
	default:
		show(sess, &d, then, now, f.all)
	}
	if err == nil && len(d.Addresses)+len(d.Blocks) > 0 {
		err = term.ExitFindings
	}
	return err
}

func show(sess *term.Session, d *ipamdiff.Diff, then, now model.Time, all bool) {
	cols := sess.Width()
	have := "have"
	if d.Same == 1 {
		have = "has"
	}
	sess.PrintLines(cols,
		fmt.Sprintf("%s moved, %s lost, %s gained, %s renewed; %s %s the same owner", plain.Count(d.Count(ipamdiff.Moved), "address"), plain.Thousands(d.Count(ipamdiff.Lost)),
			plain.Thousands(d.Count(ipamdiff.Gained)), plain.Thousands(d.Count(ipamdiff.Renewed)), plain.Thousands(d.Same), have),
		fmt.Sprintf("%s other than then; from %s to %s", plain.Count(len(d.Blocks), "block"), plain.Stamp(then.Time()), plain.Stamp(now.Time())))
	rows := [][]string{{"ADDRESS", "", "WAS", "IS"}}
	for i := range d.Addresses {
		if a := &d.Addresses[i]; all || a.What != ipamdiff.Renewed {
			rows = append(rows, []string{a.IP.String(), string(a.What), owner(a.Was), owner(a.Is)})
		}
	}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		rows = append(rows, []string{b.CIDR.String(), string(b.What), plain.Dash(b.Was), plain.Dash(b.Is)})
	}
	if len(rows) > 1 {
		sess.PrintTable(cols, rows)
	}
	if d.Count(ipamdiff.Moved)+d.Count(ipamdiff.Lost) > 0 {
		sess.Next("check")
	}
}

func owner(o ipamdiff.Owner) string {
	switch {
	case o.Name == "":
		return "free"
	case o.Node == "":
		return plain.ShortIDs(o.Name)
	default:
		return plain.ShortIDs(o.Name) + " on " + o.Node
	}
}
