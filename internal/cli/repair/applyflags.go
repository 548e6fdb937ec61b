package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cluster"
)

// applyFlags say how to carry out a plan.
type applyFlags struct {
	acceptVersion string // of undo
	file          string
	resume        string
	dryRun        string
	maxRisk       string
	budget        []string
	journal       string
}

// bind adds the flags that apply and undo share.
func (f *applyFlags) bind(c *cobra.Command) {
	l := c.Flags()
	l.StringVar(&f.dryRun, "dry-run", "none", "server: read, compare and verify, write nothing")
	l.Lookup("dry-run").NoOptDefVal = "server"
	l.StringVar(&f.maxRisk, "max-risk", "safe", "highest risk that is allowed: safe, disruptive or destructive")
	l.StringSliceVar(&f.budget, "budget", nil, "writes per second: blocks=10,handles=100,others=20")
	l.StringVar(&f.journal, "journal", "disk", "disk, or cluster: also copy the journal into ConfigMaps of the agents' namespace")
}

// budgetOf reads blocks=10/s,handles=100.
func budgetOf(flags []string) (cluster.Budget, error) {
	b := cluster.DefaultBudget
	for _, s := range flags {
		k, v, ok := strings.Cut(strings.TrimSuffix(s, "/s"), "=")
		n, err := strconv.ParseFloat(v, 64)
		into := map[string]*float64{"blocks": &b.Blocks, "handles": &b.Handles, "others": &b.Others}[k]
		if !ok || err != nil || into == nil || !(n > 0 && n <= 1000) {
			return b, fmt.Errorf("--budget %s: want blocks=N, handles=N or others=N, in writes per second", s)
		}
		*into = n
	}
	return b, nil
}

// valid checks the flags that apply and undo share.
func (f *applyFlags) valid() error {
	if err := validReason(f.acceptVersion); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]string{"none", "server"}, f.dryRun):
		return fmt.Errorf("--dry-run=%s: want none or server", f.dryRun)
	case !cluster.Risk(f.maxRisk).Known():
		return fmt.Errorf("--max-risk %s: want safe, disruptive or destructive", f.maxRisk)
	case !slices.Contains([]string{"disk", "cluster"}, f.journal):
		return fmt.Errorf("--journal %s: want disk or cluster", f.journal)
	}
	return nil
}
