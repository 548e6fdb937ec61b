package change

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A Count sets the counts of a handle to what the blocks hold. It writes absolute numbers:
// the blocks are read after the handle.
type Count struct {
	Handle string         `json:"handle"`           // ID as in the blocks; equals Step.On.Name
	Blocks []netip.Prefix `json:"blocks,omitempty"` // blocks to count in, besides those that the handle names
	Raise  []Raise        `json:"raise,omitempty"`  // addresses that later steps allocate: counted before, as in Calico
	// Unchanged is the revision that the handle must have if it is lowered or removed: an ADD
	// counts in the handle before it allocates in the block. Empty: only a step with Always
	// may lower it.
	Unchanged string `json:"unchanged,omitempty"`
}

// A Raise is the addresses of a block that a later step allocates to a handle.
type Raise struct {
	Block netip.Prefix `json:"block"`
	IPs   []netip.Addr `json:"ips"`
}

// Key is the name in the JSON of a step.
func (c *Count) Key() string { return "count" }

// Kind is that of handles.
func (c *Count) Kind() model.Kind { return model.KindHandle }

// LeastRisk is Safe: a handle only says in which blocks a DEL looks.
func (c *Count) LeastRisk() Risk { return Safe }

// Describe says what is counted.
func (c *Count) Describe() string {
	if len(c.Raise) == 0 {
		return "set its count to what the blocks hold; delete it if that is zero"
	}
	var parts []string
	for _, r := range c.Raise {
		parts = append(parts, fmt.Sprintf("%d for %s", len(r.IPs), r.Block))
	}
	return "raise its count by " + strings.Join(parts, ", ") + ", before the block allocates"
}

// Validate returns an error if the handle is lowered without a NotInUse proof.
func (c *Count) Validate(u Use) error {
	if u.On.Name != c.Handle {
		return fmt.Errorf("it counts handle %s, but its object is %s", c.Handle, u.On.Name)
	}
	if !c.sound() {
		return errors.New("it counts in something that is not a block, or an address that is not in it")
	}
	if c.Unchanged == "" || u.Always || len(c.Raise) > 0 {
		return nil
	}
	for _, f := range u.For {
		if d := u.Proofs[f].NotInUse; d == nil || !c.verified(d) {
			return errors.New("it lowers a handle without live verification that its container is gone or has no CNI call")
		}
	}
	return nil
}

// sound reports that it counts in blocks only, and only addresses of them.
func (c *Count) sound() bool {
	for _, r := range c.Raise {
		if !r.Block.IsValid() || r.Block != r.Block.Masked() || !covered([]netip.Prefix{r.Block}, r.IPs) {
			return false
		}
	}
	return c.Handle != "" && !slices.ContainsFunc(c.Blocks, func(p netip.Prefix) bool { return !p.IsValid() || p != p.Masked() })
}

// verified reports that the proof is about the container of the handle, on all nodes; or about
// the node whose tunnel has the handle.
func (c *Count) verified(d *NotInUse) bool {
	if id := model.ContainerOf(c.Handle); id != "" {
		return d.All && d.gone(id)
	}
	_, node, tunnel := strings.Cut(c.Handle, "-tunnel-addr-")
	return d.All && d.Calm || tunnel && slices.Contains(d.Absent, model.Ref{Kind: model.KindNode, Name: node})
}

// Merge counts in the blocks of both, and keeps the stricter condition.
func (c *Count) Merge(with Change) (Change, bool) {
	more, ok := with.(*Count)
	if !ok {
		return nil, false
	}
	for _, p := range more.Blocks {
		if !slices.Contains(c.Blocks, p) {
			c.Blocks = append(c.Blocks, p)
		}
	}
	for _, r := range more.Raise {
		i := slices.IndexFunc(c.Raise, func(have Raise) bool { return have.Block == r.Block })
		if i < 0 {
			c.Raise = append(c.Raise, Raise{Block: r.Block, IPs: slices.Clone(r.IPs)})
			continue
		}
		for _, ip := range r.IPs {
			if !slices.Contains(c.Raise[i].IPs, ip) {
				c.Raise[i].IPs = append(c.Raise[i].IPs, ip)
			}
		}
	}
	c.Unchanged = cmp.Or(c.Unchanged, more.Unchanged)
	return c, true
}

// NoUndo says that the count stays.
func (c *Count) NoUndo(string) (why string, undoable bool) {
	return "a handle with the right count is not changed back", false
}

// Undo counts again what the blocks hold.
func (c *Count) Undo(w Write, u Undoer) {
	blocks := slices.Clone(c.Blocks)
	for _, r := range c.Raise {
		blocks = append(blocks, r.Block)
	}
	u.Recount(w.Finding, c.Handle, blocks...)
	u.Need(w.Finding, Proof{})
}
