package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/cli/term"
)

// Every command with -o begins with text; those that list things print their names.
func TestOutputsAreCalledTheSame(t *testing.T) {
	t.Parallel()
	var listing []string
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if f := c.Flags().Lookup("output"); f != nil {
			if f.DefValue != "text" {
				t.Errorf("%s: the default of -o is %s", c.CommandPath(), f.DefValue)
			}
			if slices.Contains(term.Formats(f), "name") {
				listing = append(listing, strings.TrimPrefix(c.CommandPath(), "plumbline "))
			}
		}
		for _, s := range c.Commands() {
			look(s)
		}
	}
	look(cli.Root(&term.Session{Program: "plumbline"}))
	slices.Sort(listing)
	if want := []string{"check", "guard log", "guard status", "history", "ipam diff", "plan"}; !slices.Equal(listing, want) {
		t.Errorf("-o name: %q, want %q", listing, want)
	}
	path := bundle(t, "PL2010", nil)
	if text, table := run(t, 80, "check", "--bundle", path), run(t, 80, "check", "--bundle", path, "-o", "table"); table != text {
		t.Errorf("-o table: exit %d, %s", table.code, table.err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	path := bundle(t, "PL2010", nil)
	was, is := recordsFile(t, "g", "web-0", 1_800_000_000), recordsFile(t, "g", "api-3", 1_800_000_100)
	for args, want := range map[string]string{
		"check --bundle " + path:                       "PL1002/10.0.0.11\nPL2010/10.0.0.1\n",
		"plan --settle 1s --bundle demo/bundle.tar.gz": "PL2001/late-del/etcd1-0\n",
		"ipam diff " + was + " " + is:                  "10.0.0.1\n",
	} {
		if r := run(t, 80, append(strings.Fields(args), "-o", "name")...); r.out != want || r.err != "" {
			t.Errorf("%s: %q, %s", args, r.out, r.err)
		}
	}
}

// A typo does not look healthy, whatever verb and form of output it is given to.
func TestTypos(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"check -n typo":             "-n typo: no pod",
		"plan -n typo":              "-n typo: no pod",
		"check --node typo":         "--node typo: no such node",
		"plan --node typo":          "--node typo: no such node",
		"explain node typo":         "node typo: no such node",
		"explain node typo -o json": "node typo: no such node",
	} {
		if r := run(t, 80, append(strings.Fields(args), "--bundle", "demo/bundle.tar.gz")...); r.code != 2 || r.out != "" || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d, %q, %s", args, r.code, r.out, r.err)
		}
	}
	if r := run(t, 80, "plan", "PL2001/late-del/typo", "--bundle", "demo/bundle.tar.gz"); r.code != 1 || !strings.Contains(r.out, "not present") && !strings.Contains(r.out, "may still be there") {
		t.Errorf("a finding that is not there: exit %d, %s%s", r.code, r.out, r.err)
	}
}
