// Package demo is the verb demo: one real incident, recorded in a real cluster, to try the other verbs on.
package demo

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // the recorded incident
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/plain"
)

// The incident, as make screens records it: the cluster as collect writes it, and the logs of its nodes.
var (
	//go:embed bundle.tar.gz
	bundle []byte
	//go:embed logs.tar.gz
	logs []byte
)

// A step is one command of the walk, and what it answers.
type step struct {
	asks string
	args []string
}

// steps are the walk, with the files of the incident in dir.
func steps(dir string) []step {
	bundle, logs := filepath.Join(dir, "bundle.tar.gz"), filepath.Join(dir, "logs")
	return []step{
		{"etcd1-0 runs, and nobody reaches it. What is wrong in this cluster?", []string{"check", "--settle", "1s", "--bundle", bundle}},
		{"What do Kubernetes, Calico and the node say about that pod?", []string{"explain", "pod", "etcd1-0", "-n", "late-del", "--settle", "1s", "--bundle", bundle}},
		{"How did that happen? The logs of the nodes tell.", []string{"timeline", "pod", "etcd1-0", "-n", "late-del", "--logs", logs}},
		{"What would a repair do?", []string{"plan", "--settle", "1s", "--bundle", bundle}},
	}
}

func (s step) String() string {
	var words []string
	for _, a := range s.args {
		words = append(words, plain.Quoted(a))
	}
	return strings.Join(words, " ")
}

// Command is the command demo; run runs a command line of Plumbline.
func Command(sess *term.Session, run func(ctx context.Context, args ...string) error) *cobra.Command {
	dir := "plumbline-demo"
	c := &cobra.Command{
		Use:   "demo",
		Short: "Try check, explain, timeline and plan without a cluster",
		Long: "Writes a recorded incident of a real cluster into a new directory and runs\n" +
			"check, explain, timeline and plan on it. It needs no cluster and no kubeconfig.\n" +
			"On a terminal it waits for Enter before each command.",
		Example: fmt.Sprintf("  %[1]s demo\n  %[1]s demo --dir /tmp/demo", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sess.Bundle != "" {
				return errors.New("--bundle: not with demo, which has a bundle of its own")
			}
			if err := write(dir); err != nil {
				return err
			}
			return walk(cmd.Context(), sess, dir, run)
		},
	}
	c.Flags().StringVar(&dir, "dir", dir, "new directory for the files of the incident")
	return c
}

func walk(ctx context.Context, sess *term.Session, dir string, run func(ctx context.Context, args ...string) error) error {
	w := sess.Stdout
	fmt.Fprintf(w, "Wrote %s: a cluster with one incident, as collect\nsaves it, and the logs of its nodes.\n", plain.Line(dir))
	enter := bufio.NewReader(sess.Stdin)
	for i, s := range steps(dir) {
		fmt.Fprintf(w, "\n%d. %s\n\n$ %s %s", i+1, s.asks, sess.Program, s)
		if sess.Interactive() {
			if err := pressed(ctx, enter); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(w)
		}
		var exit term.Exit
		if err := run(ctx, s.args...); err != nil && (!errors.As(err, &exit) || exit == term.ExitUsage) {
			return err
		}
	}
	fmt.Fprintf(w, "\nOn a cluster of your own: %[1]s status, then %[1]s check.\nOnly apply, undo and guard uninstall change anything.\n", sess.Program)
	return nil
}

// pressed waits for Enter, or for the end.
func pressed(ctx context.Context, r *bufio.Reader) error {
	done := make(chan error, 1)
	go func() {
		_, err := r.ReadString('\n')
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes the files of the incident. The directory must be new: nothing of the user's is replaced.
func write(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s exists: remove it, or pass another --dir", dir)
		}
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "bundle.tar.gz"), bundle, 0o644); err != nil { //nolint:gosec // it is public
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(logs))
	if err != nil {
		return err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeLog(filepath.Join(dir, "logs", filepath.FromSlash(h.Name)), t); err != nil {
			return err
		}
	}
}

func writeLog(file string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // it is public
		return err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644) //nolint:gosec // it is public
}
