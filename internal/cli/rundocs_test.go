package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/cli"
)

// TestMain is also the program plumbline, for commands that a shell runs.
func TestMain(m *testing.M) {
	if os.Getenv("PLUMBLINE_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	os.Exit(cli.Main(context.Background(), cli.Env{Args: append([]string{"plumbline"}, os.Args[1:]...), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}))
}

// A runnable block of a page stands below <!-- run -->; lines of a block ```text below it are in what it prints, in this order.
var runnable = regexp.MustCompile("(?m)^<!-- run -->\n\n((?:    .*\n)+)(?:\n```text\n((?:.*\n)*?)```\n)?")

// What a page says to type works without a cluster, and prints what the page shows.
func TestDocsRun(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		n, err := runPage(t, string(text))
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		if marks := strings.Count(string(text), "<!-- run -->"); n != marks {
			t.Errorf("%s: %d of %d marked blocks ran: four spaces before each command, below an empty line", page, n, marks)
		}
		ran += n
	}
	if ran < 5 {
		t.Errorf("%d blocks ran", ran)
	}
}

// runPage runs the blocks of a page in a directory of their own.
func runPage(t *testing.T, text string) (ran int, err error) {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(bin, "plumbline"), fmt.Appendf(nil, "#!/bin/sh\nPLUMBLINE_PROGRAM=1 exec %q \"$@\"\n", self), 0o700); err != nil {
		return 0, err
	}
	for _, m := range runnable.FindAllStringSubmatch(text, -1) {
		ran++
		out := ""
		for line := range strings.Lines(m[1]) {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "TZ=UTC"}
			said, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 3) { // findings, or not everything was read
				err = nil
			}
			if err != nil {
				return ran, fmt.Errorf("%s: %w\n%s", strings.TrimSpace(line), err, said)
			}
			out += string(said)
		}
		rest := out
		for want := range strings.Lines(m[2]) {
			_, after, ok := strings.Cut("\n"+rest, "\n"+want)
			if !ok {
				return ran, fmt.Errorf("%s does not print %q there:\n%s", strings.TrimSpace(m[1]), want, out)
			}
			rest = after
		}
	}
	return ran, nil
}

func TestDocsThatDoNotRun(t *testing.T) {
	t.Parallel()
	for want, page := range map[string]string{
		"unknown command":    "<!-- run -->\n\n    plumbline chek\n",
		`does not print "b`:  "<!-- run -->\n\n    printf 'b\\na\\n'\n\n```text\na\nb\n```\n",
		`does not print "wh`: "<!-- run -->\n\n    plumbline explain PL2001\n\n```text\nwhatever\n```\n",
		"":                   "<!-- run -->\n\n    echo a && echo b\n\n```text\na\nb\n```\n",
	} {
		if ran, err := runPage(t, page); ran != 1 || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d ran, %v", page, ran, err)
		}
	}
}
