// Package guard is the verb guard: what the guards of the nodes report and recorded. It only
// reads; guard uninstall also switches them off.
package guard

import (
	"fmt"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
)

// flags say whose guard is asked for and how it is shown.
type flags struct {
	namespace string
	pod       string
	node      string
	all       bool
	since     string
	follow    bool
	output    string
}

// Command is the command guard with its subcommands.
func Command(sess *term.Session) *cobra.Command {
	c := &cobra.Command{
		Use:   "guard",
		Short: "Show what the guard on each node decided about CNI calls",
		Long: "The guard is the CNI plugin plumbline-cni in front of Calico's. It prevents a\n" +
			"late DEL of an old sandbox from removing the network of the new pod of the same\n" +
			"name. The mode is set in the ConfigMap plumbline-guard; of these commands only\n" +
			"uninstall changes it.\n\n" +
			"Exit code: 0 all nodes answered; 1 a guard that is configured to enforce does not\n" +
			"protect its node for certain (status); 2 could not read the cluster; 3 some nodes\n" +
			"did not answer.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(statusCommand(sess), logCommand(sess), explainCommand(sess), uninstallCommand(sess))
	return c
}

func statusCommand(sess *term.Session) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show the guard of each node: its mode, late DELs, and how long calls take",
		Example: fmt.Sprintf("  %[1]s guard status\n  %[1]s guard status --all\n  %[1]s guard status --node w17 -o wide", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := openAgents(cmd.Context(), sess, f.node)
			if err != nil {
				return err
			}
			var all guards
			all.said, all.unread = p.Status(cmd.Context())
			return showGuards(sess, all, f)
		},
	}
	l := c.Flags()
	term.RemoveShorthand(l, "A", "all")
	l.BoolVar(&f.all, "all", false, "list every node, not only those that need attention")
	l.StringVar(&f.node, "node", "", "only this node")
	term.OutputFlag(l, &f.output, "text", "wide", "json", "name")
	return c
}

func logCommand(sess *term.Session) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:     "log",
		Short:   "List the CNI calls that the guards recorded, and what they decided",
		Example: fmt.Sprintf("  %[1]s guard log --node w17 --since 1h\n  %[1]s guard log -n shop --pod db-0\n  %[1]s guard log -f", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := callsAsked(f)
			if err != nil {
				return err
			}
			p, err := openAgents(cmd.Context(), sess, f.node)
			if err != nil {
				return err
			}
			if f.follow {
				return followCalls(cmd.Context(), sess, p, q)
			}
			return showCalls(sess, callsOf(cmd.Context(), p, q), f.output)
		},
	}
	l := c.Flags()
	l.StringVar(&f.node, "node", "", "only this node")
	l.StringVarP(&f.namespace, "namespace", "n", "", "only pods of this namespace")
	l.StringVar(&f.pod, "pod", "", "only this pod: NAME, or NAMESPACE/NAME")
	l.StringVar(&f.since, "since", "", "only calls since then: a time (RFC 3339) or a duration before now")
	l.BoolVarP(&f.follow, "follow", "f", false, "follow new calls")
	term.OutputFlag(l, &f.output, "text", "json", "name")
	return c
}

func explainCommand(sess *term.Session) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "explain POD | CONTAINER | CALL",
		Short: "Explain what the guard decided about the CNI calls of a pod, and why",
		Long: "The argument is a pod (NAMESPACE/NAME, or NAME with -n), a finding about a pod,\n" +
			"at least 8 digits of a container ID, or a call as guard log shows it\n" +
			"(NODE:DIGITS).",
		Example: fmt.Sprintf("  %[1]s guard explain db-0 -n shop\n  %[1]s guard explain 41857f70\n  %[1]s guard explain w17:3fa2c1", sess.Program),
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := explained(sess, args[0], f)
			if err != nil {
				return err
			}
			p, err := openAgents(cmd.Context(), sess, q.node)
			if err != nil {
				return err
			}
			return explainCalls(sess, callsOf(cmd.Context(), p, q), f.output)
		},
	}
	l := c.Flags()
	l.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the pod")
	l.StringVar(&f.node, "node", "", "only this node")
	term.OutputFlag(l, &f.output, "text", "json")
	return c
}
