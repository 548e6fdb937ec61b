package execute_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// orphans adds handles of block A that no allocation uses, and returns a plan that removes them.
func (c *cluster) orphans(n int) *repair.Plan {
	p := &repair.Plan{Schema: repair.Schema, ID: "plan", Cluster: "cluster", Nodes: []string{node}}
	for i := range n {
		container := fmt.Sprintf("%064d", i)
		ref := model.Ref{Kind: model.KindHandle, Name: "k8s-pod-network." + container}
		body := fmt.Sprintf(`{"handleID":%q,"block":{%q:1}}`, ref.Name, blockA)
		c.objects[ref] = model.Object{Ref: ref, UID: "u", Revision: "1", Body: json.RawMessage(body)}
		key := "PL1006/" + ref.Name
		p.Steps = append(p.Steps, repair.Step{ID: i + 1, Do: "remove", On: ref, For: []string{key}, Change: &change.Count{Handle: ref.Name, Unchanged: "1"}})
		p.Targets = append(p.Targets, repair.Target{Finding: key, Risk: change.Safe, Proof: change.Proof{NotInUse: &change.NotInUse{All: true, Containers: []string{container}}}})
	}
	return p
}

func (c *cluster) times(did string) (n int) {
	for _, d := range c.log {
		if d == did {
			n++
		}
	}
	return n
}

// Handles of one block are counted in one read of it, made after the nodes verified; all nodes
// verify once.
func TestCountedInOneRead(t *testing.T) {
	c := newCluster(t, blockA)
	res, err := c.executor().Run(t.Context(), c.orphans(5), nil)
	if err != nil || len(c.objects) != 1 || len(res.Findings) != 5 {
		t.Fatalf("%v, %d objects left: %+v", err, len(c.objects), res)
	}
	verified, read := slices.Index(c.log, "verify n1"), lastIndex(c.log, "read block "+blockA)
	if c.times("verify n1") != 1 || c.times("read block "+blockA) != 2 || read < verified {
		t.Errorf("want two reads of the block, one of them after the only verification: %q", c.log)
	}
}

// A block that was counted in is read again if it is old, or if the executor wrote one.
func TestCountedAgain(t *testing.T) {
	c := newCluster(t, blockA)
	c.journal = func(repair.Entry) error { c.clock = c.clock.Add(6 * time.Second); return nil }
	if _, err := c.executor().Run(t.Context(), c.orphans(3), nil); err != nil || c.times("read block "+blockA) != 4 {
		t.Errorf("%v: %q", err, c.log)
	}
}

// An address that is allocated to a handle after its block was counted in: the handle was written
// first, and stays.
func TestCountedBeforeAnADD(t *testing.T) {
	c := newCluster(t, blockA)
	p := c.orphans(2)
	second := p.Steps[1].On
	c.journal = func(e repair.Entry) error {
		if e.Step == 1 && e.Outcome == repair.Done {
			o := c.objects[second]
			o.Revision = "2"
			c.objects[second] = o
			block := model.Ref{Kind: model.KindBlock, Name: blockA}
			o = c.objects[block]
			o.Revision, o.Body = "2", json.RawMessage(fmt.Sprintf(`{"cidr":%q,"affinity":"host:n1","allocations":[0,null,null,null],"unallocated":[1,2,3],"attributes":[{"handle_id":%q}],"sequenceNumber":8}`, blockA, second.Name))
			c.objects[block] = o
		}
		return nil
	}
	_, err := c.executor().Run(t.Context(), p, nil)
	if _, there := c.objects[second]; err != nil || !there {
		t.Errorf("%v, the handle of an ADD is gone: %q", err, c.log)
	}
}

func lastIndex(all []string, one string) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] == one {
			return i
		}
	}
	return -1
}
