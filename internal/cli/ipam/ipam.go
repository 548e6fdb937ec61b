// Package ipam has the verbs about IPAM records alone: backup and diff.
package ipam

import (
	"context"
	"errors"
	"fmt"

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
			"With --keep, --save names a directory of this cluster's files alone: the oldest\n" +
			"are removed.",
		Example: fmt.Sprintf("  %[1]s ipam backup --save ipam-$(date +%%F).tar.gz\n  %[1]s ipam backup --save /backups --keep 24\n  %[1]s ipam diff ipam-2026-11-17.tar.gz", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case file == "":
				return errors.New("pass --save FILE")
			case keep < 0:
				return errors.New("--keep: pass how many files to keep, 1 or more")
			}
			return backup(cmd.Context(), sess, file, keep)
		},
	}
	c.Flags().StringVar(&file, "save", "", "file to write (tar.gz); with --keep, the directory")
	c.Flags().IntVar(&keep, "keep", 0, "write a new file into a directory, and keep so many of them")
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
	file, size, err := write(file, s, keep)
	if err != nil {
		return err
	}
	held := 0
	for i := range s.Blocks {
		held += len(s.Blocks[i].Held)
	}
	fmt.Fprintf(sess.Stdout, "Wrote    %s, %s: %s in %s, %s\n", file, plain.Size(size), plain.Count(held, "allocated address"), plain.Count(len(s.Blocks), "block"), plain.Count(len(s.Handles), "handle"))
	sess.Next("ipam diff %s", plain.Quoted(file))
	return nil
}
