package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// words are what flags take that take only certain words, in the order of their help.
var words = map[string][]string{
	"fail-on":  {"info", "warning", "error"},
	"require":  {"kubernetes", "calico", "node"},
	"max-risk": {"safe", "disruptive", "destructive"},
	"journal":  {"disk", "cluster"},
	"dry-run":  {"none", "server"},
}

// complete has shells complete contexts, formats, and names of the cluster. A shell waits for what is completed: the cluster
// has a moment to answer, and nothing is said if it does not.
func complete(root *cobra.Command, sess *term.Session) {
	fixed := func(c *cobra.Command, flag string, values []string) {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	}
	contexts := func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		all, _ := cluster.Contexts(sess.Cluster) // no kubeconfig, no names
		return last(all, word), cobra.ShellCompDirectiveNoFileComp
	}
	_ = root.RegisterFlagCompletionFunc("context", contexts)
	fixed(root, "datastore", []string{"auto", "kdd", "etcd"})
	for _, c := range slices.Concat(root.Commands(), subcommands(root)) {
		if c.Flags().Lookup("contexts") != nil {
			_ = c.RegisterFlagCompletionFunc("contexts", contexts)
		}
		if f := c.Flags().Lookup("output"); f != nil {
			fixed(c, "output", term.Formats(f))
		}
		for flag, values := range words {
			if c.Flags().Lookup(flag) != nil {
				_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
					return last(values, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
				})
			}
		}
		for flag, names := range map[string]func(context.Context, cluster.Options) []string{"node": cluster.NodeNames, "node-gone": cluster.NodeNames, "namespace": cluster.NamespaceNames} {
			if c.Flags().Lookup(flag) != nil {
				_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
					return last(names(c.Context(), sess.Cluster), word), cobra.ShellCompDirectiveNoFileComp
				})
			}
		}
		switch c.Name() {
		case "plan":
			c.ValidArgsFunction = func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
				return begin(cluster.FindingNames(c.Context(), sess.Cluster), word), cobra.ShellCompDirectiveNoFileComp
			}
		case "undo", "history":
			c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return plans(c, sess, word, false)
			}
		case "apply":
			_ = c.RegisterFlagCompletionFunc("resume", func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
				return plans(c, sess, word, true)
			})
		case "explain", "timeline":
			c.ValidArgsFunction = completeObject(sess, c)
		}
	}
}

// plans completes those that were applied from this machine.
func plans(c *cobra.Command, sess *term.Session, word string, resumable bool) ([]string, cobra.ShellCompDirective) {
	o, done := sess.Options()
	defer done()
	o.Notice, o.Progress = nil, nil
	return begin(cluster.PlanNames(c.Context(), o, resumable), word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeObject completes a kind and then the name of an object of it, or a finding.
func completeObject(sess *term.Session, of *cobra.Command) cobra.CompletionFunc {
	kinds := of.ValidArgsFunction // before the cluster is asked
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		var out []string
		switch {
		case len(args) == 0 && strings.HasPrefix(strings.ToUpper(word), "PL") && strings.Contains(word, "/"):
			out = cluster.FindingNames(c.Context(), sess.Cluster)
		case len(args) == 0 && kinds != nil:
			return kinds(c, args, word)
		case len(args) == 1 && slices.Contains([]string{"pod", "pods", "po"}, args[0]):
			ns, _ := c.Flags().GetString("namespace")
			if ns == "" {
				ns = cluster.Namespace(sess.Cluster)
			}
			out = cluster.PodNames(c.Context(), sess.Cluster, ns)
		case len(args) == 1 && slices.Contains([]string{"node", "nodes", "no"}, args[0]):
			out = cluster.NodeNames(c.Context(), sess.Cluster)
		}
		return begin(out, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// begin keeps what begins with the word. Names come from strangers, and a shell pastes them: those that it would not take as
// one plain word are left out.
func begin(names []string, word string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, word) || plain.Quoted(n) != n })
}

// last completes what is behind the last comma of the word, for flags that take several.
func last(names []string, word string) []string {
	before := word[:strings.LastIndexByte(word, ',')+1]
	out := begin(slices.Clone(names), word[len(before):])
	for i := range out {
		out[i] = before + out[i]
	}
	return out
}

func subcommands(root *cobra.Command) (out []*cobra.Command) {
	for _, c := range root.Commands() {
		out = append(out, c.Commands()...)
	}
	return out
}
