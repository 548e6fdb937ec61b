// Package ipam has the verbs about IPAM records alone: backup and diff.
package ipam

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// Command is the command ipam.
func Command(sess *term.Session) *cobra.Command {
	c := &cobra.Command{
		Use:   "ipam",
		Short: "Keep Calico's IPAM records, and compare them with another time",
		Long: "Which address belongs to whom is only in Calico's datastore. A file of ipam\n" +
			"backup has that of one time; ipam diff says which addresses have another owner\n" +
			"now, such as after etcd was restored from a backup.",
	}
	c.AddCommand(backupCommand(sess), diffCommand(sess))
	return c
}

func backupCommand(sess *term.Session) *cobra.Command {
	file, keep := "", 0
	c := &cobra.Command{
		Use:   "backup --save FILE",
		Short: "Write Calico's IPAM records into a file",
		Long: "Writes pools, blocks, handles and affinities, and which pods have which address.\n" +
			"It is a bundle as collect writes it, without node state: check --bundle reads it\n" +
			"too. It is no backup of etcd: what is repaired after a restore is planned from\n" +
			"running pods (plan --rebuild), never from this file.\n" +
			"With --keep N, --save names a directory: a new file is written into it, and all\n" +
			"but the newest N of this cluster's are deleted. The last one from before a\n" +
			"restore of etcd gets a name of its own, and is never deleted.",
		Example: fmt.Sprintf("  %[1]s ipam backup --save ipam-$(date +%%F).tar.gz\n  %[1]s ipam backup --save /backups --keep 24\n  %[1]s ipam diff ipam-2026-11-17.tar.gz", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case file == "":
				return errors.New("pass --save FILE")
			case cmd.Flags().Changed("keep") && keep < 1:
				return errors.New("--keep: pass how many files to keep, 1 or more")
			}
			return backup(cmd.Context(), sess, file, keep)
		},
	}
	c.Flags().StringVar(&file, "save", "", "file to write (tar.gz); with --keep, the directory")
	c.Flags().IntVar(&keep, "keep", 0, "write a new file into a directory, and delete all but the newest N of them")
	return c
}

// records reads Calico's records, or a bundle.
func records(ctx context.Context, sess *term.Session) (*model.Snapshot, error) {
	if sess.Bundle != "" {
		return cluster.ReadBundle(sess.Bundle)
	}
	c, done, err := sess.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer c.Close()
	return c.Records(ctx)
}

// backup writes a file only if everything was read: half a backup is none.
func backup(ctx context.Context, sess *term.Session, file string, keep int) error {
	s, err := records(ctx, sess)
	if err != nil {
		return err
	}
	for _, c := range s.Coverage {
		if c.Node == "" && (c.State == model.Lost || c.State == model.Partial) {
			return fmt.Errorf("nothing is written, since %s were not read completely: %s", c.Table, plain.Line(c.Reason))
		}
	}
	out := kept{file: file}
	if keep == 0 {
		out.size, err = cluster.WriteBundle(file, s)
	} else {
		var k *keeper
		if k, err = newKeeper(file, s, keep); err == nil {
			out, err = k.write(s)
			out.file = k.path(out.file)
		}
	}
	if err != nil {
		return err
	}
	held := 0
	for i := range s.Blocks {
		held += len(s.Blocks[i].Held)
	}
	fmt.Fprintf(sess.Stdout, "Wrote    %s, %s: %s in %s, %s\n", out.file, plain.Size(out.size), plain.Count(held, "allocated address"), plain.Count(len(s.Blocks), "block"), plain.Count(len(s.Handles), "handle"))
	if out.removed > 0 {
		fmt.Fprintf(sess.Stdout, "Deleted  %s\n", plain.Count(out.removed, "older file"))
	}
	if out.aside != "" {
		out.file = filepath.Join(file, out.aside)
		fmt.Fprintf(sess.Stdout, "Kept     %s: Calico's datastore was restored since; see docs/repair.md\n", out.file)
	}
	sess.Next("ipam diff %s", plain.Quoted(out.file))
	return nil
}
