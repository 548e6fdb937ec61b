package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

func uninstallCommand(sess *term.Session) *cobra.Command {
	var within time.Duration
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Switch the guard off and wait until no node's CNI configuration names it",
		Long: "It sets the mode to off in the ConfigMap plumbline-guard, removes the modes of\n" +
			"single nodes from it, and waits until every guard daemon has removed the guard\n" +
			"from its node's CNI configuration. Pods are not affected. It works without Helm,\n" +
			"and needs the right to update that ConfigMap.\n\n" +
			"Exit code: 0 no CNI configuration names the guard; 2 could not switch it off;\n" +
			"3 some nodes did not say so in time.",
		Example: fmt.Sprintf("  %[1]s guard uninstall\n  %[1]s guard uninstall --timeout 10m", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := openAgents(cmd.Context(), sess, "")
			if err != nil {
				return err
			}
			return uninstall(cmd.Context(), sess, p, within, 5*time.Second)
		},
	}
	c.Flags().DurationVar(&within, "timeout", 5*time.Minute, "how long to wait for the nodes")
	return c
}

func uninstall(ctx context.Context, sess *term.Session, p agents, within, every time.Duration) error {
	configMap, err := p.Off(ctx)
	if err != nil {
		return err
	}
	cols := sess.Width()
	sess.PrintLabelled(cols, "", "The guard is switched off in ConfigMap "+configMap+".")
	waiting, stop := context.WithTimeout(ctx, within)
	defer stop()
	for {
		var all guards
		all.said, all.unread = p.Status(ctx)
		left, programs, mute := named(all.said)
		maps.Copy(left, all.unread)
		if len(mute) > 0 {
			maps.Copy(left, p.InConfigs(ctx, mute))
		}
		if len(left) > 0 {
			select {
			case <-time.After(every):
				continue
			case <-ctx.Done():
				return ctx.Err()
			case <-waiting.Done():
			}
		}
		free := len(all.said) + len(all.unread) - len(left)
		sess.PrintLabelled(cols, "", fmt.Sprintf("%s: no CNI configuration names the guard.", plain.Count(free, "node")))
		if len(programs) > 0 {
			sess.PrintLabelled(cols, "", fmt.Sprintf("%s: the program plumbline-cni stays as a pass-through as long as something names it, such as cached results of pods that started with it. The guard daemon removes it then.", plain.FewOf(programs)))
		}
		for _, l := range unreadNodes(left) {
			sess.PrintLabelled(cols, "Not shown: ", l)
		}
		if len(left) > 0 {
			sess.Next("guard status --all")
			return term.ExitGaps
		}
		sess.PrintLabelled(cols, "", "Now remove the guard daemon: helm upgrade with --set guard.enabled=false, or kubectl apply -f deploy/agent.yaml.")
		return nil
	}
}

// named tells which nodes' CNI configuration may name the guard, and why, which nodes without that
// have its program, and which have no report: it was never there, or the node has rebooted since.
func named(said []cluster.GuardStatus) (left map[string]error, programs, mute []string) {
	left = map[string]error{}
	for i := range said {
		g := &said[i]
		switch r := g.Report; {
		case r == nil:
			mute = append(mute, g.Node)
		case g.Age() > daemonSilentAfter:
			left[g.Node] = fmt.Errorf("the guard daemon has not reported for %s", plain.Age(g.Age()))
		case r.Wanted != guard.Off:
			left[g.Node] = errors.New("the guard daemon does not know yet that the mode is off")
		case r.State == "broken":
			left[g.Node] = errors.New("the CNI configuration cannot be read")
		case r.Mode != "" || r.State == "patched":
			left[g.Node] = errors.New("the CNI configuration names the guard")
		case r.Program != "":
			programs = append(programs, g.Node)
		}
	}
	slices.Sort(programs)
	return left, programs, mute
}
