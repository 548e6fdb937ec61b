package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A collector is the IPAM garbage collector with its cache: what it knows by handle and address it never
// reads again (F2).
type collector map[string]map[string]string

func (c collector) look(t *testing.T, body json.RawMessage) {
	t.Helper()
	var b struct {
		Allocations []*int
		Attributes  []struct {
			Handle    string            `json:"handle_id"`
			Secondary map[string]string `json:"secondary"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	now := map[string]bool{}
	for n, i := range b.Allocations {
		if i == nil {
			continue
		}
		id := fmt.Sprintf("%s/%d", b.Attributes[*i].Handle, n)
		now[id] = true
		if c[id] == nil {
			c[id] = b.Attributes[*i].Secondary
		}
	}
	for id := range c {
		if !now[id] {
			delete(c, id)
		}
	}
}

// The collector must come to know the right node, the ordinal must never be free nor
// without a node, and the time of the allocation must stay.
func TestMisnamedConvincesTheCollector(t *testing.T) {
	t.Parallel()
	const handle = "k8s-pod-network.a1a1a1a1a1a1a1a1"
	raw := `{"cidr":"10.0.0.0/29","affinity":"host:n1","allocations":[null,0,null,null,null,null,null,null],"unallocated":[0,2,3,4,5,6,7],
		"attributes":[{"handle_id":"` + handle + `","secondary":{"namespace":"shop","node":"n2","pod":"web","timestamp":"2025-01-01 00:00:00.5 +0000 UTC"}}],
		"sequenceNumber":1800000000000000100,"sequenceNumberForAllocation":{"1":1800000000000000002},"deleted":false}`
	var live model.Object
	live.Ref = model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/29"}
	live.Revision, live.Body = "1", json.RawMessage(raw)

	var c rescueCase
	for _, have := range rescueCases(t) {
		if strings.HasSuffix(have.path, "PL1003-node.txtar") {
			c = have
		}
	}
	p, _ := c.plan(t)
	gc := collector{}
	gc.look(t, live.Body)
	writes := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		os, ok := s.Change.(change.Ordinals)
		if !ok {
			continue
		}
		// The fixture's rows know no timestamp; the digest of what else is said is the live one's.
		if s.Do == "hold" {
			b, err := object.Decode("block", live.Body, func(v *object.Block) *lossless.Extra { return &v.Extra })
			if err != nil {
				t.Fatal(err)
			}
			os[0].From.Attribute = b.Attributes.V[*b.Allocations.V[1]].Row()
		}
		counts := map[model.Ref]model.Object{} // the step before raised them
		refs, err := s.Reads(live)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refs {
			counts[r] = model.Object{Ref: r, UID: "u", Revision: "1", Body: json.RawMessage(`{"handleID":"` + r.Name + `","block":{"` + live.Ref.Name + `":9}}`)}
		}
		e, err := s.Edit(change.Scene{Live: live, Also: counts, Keep: func(string) bool { return true }})
		if err != nil {
			t.Fatalf("step %d: %v", s.ID, err)
		}
		writes++
		live.Body = e.Object.Body
		gc.look(t, live.Body)
		for id, at := range gc {
			if at["node"] != "n1" {
				t.Errorf("after step %d the collector knows %s on %q", s.ID, id, at["node"])
			}
		}
		if _, err := s.Edit(change.Scene{Live: live, Also: counts, Keep: func(string) bool { return true }}); !errors.Is(err, change.ErrAlready) {
			t.Errorf("step %d again: %v", s.ID, err)
		}
	}
	if writes != 2 || len(gc) != 1 || gc[handle+"/1"]["pod"] != "web" {
		t.Errorf("%d writes; the collector knows %v", writes, gc)
	}
	if !strings.Contains(string(live.Body), "2025-01-01 00:00:00.5") || !strings.Contains(string(live.Body), "1800000000000000102") {
		t.Errorf("time or sequence: %s", live.Body)
	}
}
