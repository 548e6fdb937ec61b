package main

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
)

func TestFlagsAreAcceptedAnywhere(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"late-del", "--keep", "--nodes", "3"}, {"--nodes=3", "late-del", "--keep"}, {"--keep", "--nodes", "3", "late-del"}} {
		var c lab.Config
		fs := flag.NewFlagSet("run", flag.ContinueOnError)
		configFlags(fs, &c)
		keep := fs.Bool("keep", false, "")
		rest, err := parse(env{args: args}, fs)
		if err != nil || !slices.Equal(rest, []string{"late-del"}) || !*keep || c.Nodes != 3 {
			t.Errorf("%q: rest %q, keep %v, nodes %d, %v", args, rest, *keep, c.Nodes, err)
		}
	}
}

func TestHelpGoesToStdoutAndMistakesAreUsageErrors(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	fs := flag.NewFlagSet("up", flag.ContinueOnError)
	fs.Int("nodes", 0, "number of nodes: `N`")
	if _, err := parse(env{args: []string{"--help"}, stdout: &out}, fs); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "--nodes N") {
		t.Errorf("help: %v, %q", err, out.String())
	}
	if _, err := parse(env{args: []string{"--nope"}, stdout: &out}, fs); !errors.Is(err, errUsage) {
		t.Errorf("mistake: %v", err)
	}
	if err := run(t.Context(), env{args: []string{"nope"}, stdout: &out}); !errors.Is(err, errUsage) {
		t.Errorf("unknown command: %v", err)
	}
}
