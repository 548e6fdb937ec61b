package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/cli/term"
)

const referencePage = "../../docs/cli.md"

// docs/cli.md is what the commands say of themselves.
func TestReference(t *testing.T) {
	t.Parallel()
	sess := &term.Session{Program: "plumbline"}
	sess.Cluster.Version = "v0.0.0"
	root := cli.Root(sess)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var b bytes.Buffer
	fmt.Fprint(&b, "# Command line\n\n<!-- Made from the commands by make gen. -->\n\n"+
		"Every command that prints objects has -o json, yaml, jsonpath= and go-template=; its default is text. Commands that list\n"+
		"things have -o name too: one name per line, as another command takes it. The others describe what you named already.\n\nFlags of all commands:\n\n")
	flags(&b, root.PersistentFlags().FlagUsagesWrapped(80))
	for _, c := range root.Commands() {
		describe(&b, c)
	}
	if *updatePages {
		if err := os.WriteFile(referencePage, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(referencePage); err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("docs/cli.md: make gen was not run (%v)", err)
	}
}

func describe(b *bytes.Buffer, c *cobra.Command) {
	if !c.IsAvailableCommand() || c.Name() == "completion" && c.Parent().Name() != "plumbline" {
		return
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n", c.CommandPath(), strings.TrimSpace(text))
	if c.Name() == "completion" {
		return // its subcommands are shells
	}
	if c.Runnable() {
		fmt.Fprintf(b, "\n    %s\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprint(b, "\nExamples:\n\n")
		flags(b, c.Example+"\n")
	}
	if l := c.NonInheritedFlags(); l.HasAvailableFlags() {
		fmt.Fprint(b, "\n")
		flags(b, l.FlagUsagesWrapped(80))
	}
	for _, s := range c.Commands() {
		describe(b, s)
	}
}

// flags writes text as it stands.
func flags(b *bytes.Buffer, text string) {
	for line := range strings.Lines(text) {
		b.WriteString("    " + strings.TrimRight(line, " \n") + "\n")
	}
}
