package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
)

// complete has shells complete the contexts of the kubeconfig and the formats of each command. It reads no cluster: a shell
// must not wait for one.
func complete(root *cobra.Command, sess *term.Session) {
	fixed := func(c *cobra.Command, flag string, values []string) {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	}
	_ = root.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return cluster.Contexts(sess.Cluster), cobra.ShellCompDirectiveNoFileComp
	})
	fixed(root, "datastore", []string{"auto", "kdd", "etcd"})
	for _, c := range slices.Concat(root.Commands(), subcommands(root)) {
		if f := c.Flags().Lookup("output"); f != nil {
			// Its help lists the formats: "text, wide or json".
			fixed(c, "output", slices.DeleteFunc(strings.FieldsFunc(f.Usage, func(r rune) bool { return r == ',' || r == ' ' }), func(s string) bool { return s == "or" }))
		}
	}
}

func subcommands(root *cobra.Command) (out []*cobra.Command) {
	for _, c := range root.Commands() {
		out = append(out, c.Commands()...)
	}
	return out
}
