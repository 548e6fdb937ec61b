package execute_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

const (
	blockA = "10.0.0.0/30"
	blockB = "10.0.0.4/30"
	node   = "n1"
)

var errTest = errors.New("made by the test")

// A cluster is the store, the agents and the journal of one test. In each block the first
// address is allocated. Put and Delete fail the test if the journal does not end with an
// Intent, or after Halt returned an error.
type cluster struct {
	t       *testing.T
	objects map[model.Ref]model.Object
	clock   time.Time
	log     []string       // what the executor did, in order
	disk    []repair.Entry // the journal
	writes  int            // that were applied
	tries   int            // of Put
	halted  bool
	dry     bool
	nodes   []string       // none: only n1
	pods    []model.Object // with the address of block A in their status

	put     func(c *cluster, apply func() error) error // nil: apply
	answer  func(v *model.Verification) error          // changes what the agent answers; may be nil
	journal func(e repair.Entry) error                 // before the entry is on disk; may be nil
}

func newCluster(t *testing.T, blocks ...string) *cluster {
	c := &cluster{t: t, objects: map[model.Ref]model.Object{}, clock: time.Unix(1_700_000_000, 0)}
	for _, b := range blocks {
		body := fmt.Sprintf(`{"cidr":%q,"affinity":"host:n1","allocations":[0,null,null,null],"unallocated":[1,2,3],"attributes":[{"handle_id":%q}],"sequenceNumber":7}`, b, handleOf(b))
		ref := model.Ref{Kind: model.KindBlock, Name: b}
		c.objects[ref] = model.Object{Ref: ref, UID: "u-" + b, Revision: "1", Body: json.RawMessage(body)}
	}
	return c
}

func (c *cluster) executor() *execute.Executor {
	return &execute.Executor{
		Calico: c, Kube: c, Pods: c, Nodes: c, MaxRisk: change.Safe, DryRun: c.dry,
		Journal: func(e repair.Entry) error {
			if c.journal != nil {
				if err := c.journal(e); err != nil {
					return err
				}
			}
			c.did("%s %d", e.Outcome, e.Step)
			c.disk = append(c.disk, e)
			return nil
		},
		Halt: func(context.Context) error {
			c.did("halt?")
			if c.halted {
				return errTest
			}
			return nil
		},
		Now:   func() time.Time { return c.clock },
		Sleep: func(_ context.Context, d time.Duration) error { c.clock = c.clock.Add(d); return nil },
	}
}

func (c *cluster) did(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

func (c *cluster) PodsOn(_ context.Context, node string) ([]model.Object, error) {
	var out []model.Object
	for ref, o := range c.objects {
		var p model.PodBody
		if ref.Kind == model.KindPod && json.Unmarshal(o.Body, &p) == nil && p.Node == node {
			out = append(out, o)
		}
	}
	return out, nil
}

func (c *cluster) CalicoNodes(context.Context) ([]model.Object, error) {
	var out []model.Object
	for ref, o := range c.objects {
		var p model.PodBody
		if ref.Kind == model.KindPod && json.Unmarshal(o.Body, &p) == nil && p.Owner == change.RestartOwner {
			out = append(out, o)
		}
	}
	return out, nil
}

func (c *cluster) PodsWith(context.Context, netip.Addr) ([]model.Object, error) { return c.pods, nil }

func (c *cluster) Get(_ context.Context, r model.Ref) (model.Object, error) {
	c.did("read %s", r)
	o := c.objects[r]
	o.Ref = r
	return o, nil
}

func (c *cluster) Put(_ context.Context, o model.Object) (model.Object, error) {
	err := c.write(o, func() {
		c.writes++
		o.Revision = strconv.Itoa(c.writes + 1)
		c.objects[o.Ref] = o
	})
	return o, err
}

func (c *cluster) Delete(_ context.Context, o model.Object) error {
	return c.write(o, func() { c.writes++; delete(c.objects, o.Ref) })
}

func (c *cluster) write(o model.Object, swap func()) error {
	c.did("write %s", o.Ref)
	if n := len(c.disk); !c.dry && (n == 0 || c.disk[n-1].Outcome != repair.Intent) {
		c.t.Errorf("%s is written without an Intent in the journal", o.Ref)
	}
	if c.halted {
		c.t.Errorf("%s is written after the stop", o.Ref)
	}
	apply := func() error {
		if live := c.objects[o.Ref]; live.Revision != o.Revision || live.UID != o.UID {
			return execute.ErrStale
		}
		if !c.dry {
			swap()
		}
		return nil
	}
	c.tries++
	if c.put == nil {
		return apply()
	}
	return c.put(c, apply)
}

func (c *cluster) Names(context.Context) ([]string, error) {
	if c.nodes != nil {
		return c.nodes, nil
	}
	return []string{node}, nil
}

func (*cluster) Published(context.Context, string) ([]string, bool) { return nil, false }

func (c *cluster) Ask(_ context.Context, n string, ips []netip.Addr, containers []string) (model.Verification, error) {
	c.did("verify %s", n)
	v := model.Verification{Node: n, Complete: true, All: len(ips)+len(containers) == 0}
	if c.answer == nil {
		return v, nil
	}
	err := c.answer(&v)
	return v, err
}

// otherWriter writes a block without changing it.
func (c *cluster) otherWriter(block string) {
	ref := model.Ref{Kind: model.KindBlock, Name: block}
	o := c.objects[ref]
	o.Revision += "0"
	c.objects[ref] = o
}

// held gives the handle of the first address of a block; empty if it is free.
func (c *cluster) held(block string) string {
	var b struct {
		Allocations []*int `json:"allocations"`
		Attributes  []struct {
			Handle string `json:"handle_id"`
		} `json:"attributes"`
	}
	if err := json.Unmarshal(c.objects[model.Ref{Kind: model.KindBlock, Name: block}].Body, &b); err != nil {
		c.t.Fatal(err)
	}
	if b.Allocations[0] == nil {
		return ""
	}
	return b.Attributes[*b.Allocations[0]].Handle
}

func containerOf(block string) string { return fmt.Sprintf("%064x", block) }
func handleOf(block string) string    { return "k8s-pod-network." + containerOf(block) }

// planOf makes one finding per group of blocks. Its steps release the first address of each
// block of the group, after the agent verified that none of them is in use.
func planOf(groups ...[]string) *repair.Plan {
	p := &repair.Plan{Schema: repair.Schema, ID: "plan", Cluster: "cluster"}
	for _, blocks := range groups {
		unused := &change.NotInUse{Nodes: []string{node}}
		key := "PL1001/" + blocks[0]
		for _, b := range blocks {
			ip := netip.MustParsePrefix(b).Addr()
			unused.IPs, unused.Containers = append(unused.IPs, ip), append(unused.Containers, containerOf(b))
			from := &change.Held{Attribute: model.Attribute{Handle: handleOf(b)}}
			p.Steps = append(p.Steps, repair.Step{
				ID: len(p.Steps) + 1, Do: "release", On: model.Ref{Kind: model.KindBlock, Name: b}, For: []string{key},
				Change: change.Ordinals{{For: key, IP: ip, From: from}},
			})
		}
		p.Targets = append(p.Targets, repair.Target{Finding: key, Risk: change.Safe, Proof: change.Proof{NotInUse: unused}})
	}
	return p
}

const findingA, findingB = "PL1001/" + blockA, "PL1001/" + blockB
