//go:build e2e

package write

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/kube"
)

// A railBlock is a block as Calico writes it.
type railBlock struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       struct {
		CIDR           string           `json:"cidr"`
		Affinity       *string          `json:"affinity"`
		Allocations    []*int           `json:"allocations"`
		Unallocated    []int            `json:"unallocated"`
		Attributes     []map[string]any `json:"attributes"`
		SequenceNumber int64            `json:"sequenceNumber"`
		StrictAffinity bool             `json:"strictAffinity"`
		Deleted        bool             `json:"deleted"`
	} `json:"spec"`
}

// newRailBlock has its first held ordinals allocated, each to a handle of its own.
func newRailBlock(name, cidr string, size, held int) *railBlock {
	b := &railBlock{APIVersion: "crd.projectcalico.org/v1", Kind: "IPAMBlock", Metadata: map[string]any{"name": name}}
	host := "host:n1"
	b.Spec.CIDR, b.Spec.Affinity, b.Spec.SequenceNumber = cidr, &host, 100
	b.Spec.Allocations, b.Spec.Unallocated, b.Spec.Attributes = make([]*int, size), []int{}, []map[string]any{}
	for i := range size {
		if i < held {
			b.Spec.Allocations[i] = new(len(b.Spec.Attributes))
			b.Spec.Attributes = append(b.Spec.Attributes, map[string]any{"handle_id": fmt.Sprintf("k8s-pod-network.%d", i), "secondary": map[string]any{"node": "n1"}})
			continue
		}
		b.Spec.Unallocated = append(b.Spec.Unallocated, i)
	}
	return b
}

// release frees the first n ordinals as Calico does: attributes are renumbered.
func (b *railBlock) release(n int) {
	for i := range n {
		b.Spec.Allocations[i] = nil
		b.Spec.Unallocated = append(b.Spec.Unallocated, i)
	}
	b.Spec.Attributes = b.Spec.Attributes[n:]
	for _, a := range b.Spec.Allocations {
		if a != nil {
			*a -= n
		}
	}
	b.Spec.SequenceNumber++
}

// give allocates n of the free ordinals to one new handle.
func (b *railBlock) give(n int) {
	b.Spec.Attributes = append(b.Spec.Attributes, map[string]any{"handle_id": "new"})
	for _, o := range b.Spec.Unallocated[:n] {
		b.Spec.Allocations[o] = new(len(b.Spec.Attributes) - 1)
	}
	b.Spec.Unallocated = b.Spec.Unallocated[n:]
}

// ipamRails: what a stolen token of the account can do to Calico's records, by hand, is bounded.
func (e *edge) ipamRails(t *testing.T, c *kube.Client) {
	send, admin := bare(t, c), bare(t, e.admin)
	defer e.holds(t, writing(t, c))()
	const at = "/apis/crd.projectcalico.org/v1/ipamblocks"
	fresh := func(name, cidr string, size, held int) *railBlock {
		t.Helper()
		b := newRailBlock(name, cidr, size, held)
		text, _ := json.Marshal(b)
		code, said := admin("POST", at, kube.AcceptJSON, string(text))
		if code != 201 {
			t.Fatalf("%d %s", code, said)
		}
		var made struct{ Metadata map[string]any }
		if err := json.Unmarshal([]byte(said), &made); err != nil {
			t.Fatal(err)
		}
		b.Metadata = map[string]any{"name": name, "uid": made.Metadata["uid"], "resourceVersion": made.Metadata["resourceVersion"]}
		return b
	}
	for i, c := range []struct {
		name       string
		size, held int
		edit       func(b *railBlock)
		why        string // empty: allowed
	}{
		{"eight are released", 64, 40, func(b *railBlock) { b.release(8) }, ""},
		{"nine are released", 64, 40, func(b *railBlock) { b.release(9) }, "at most 8 owners"},
		{"all are released", 64, 64, func(b *railBlock) { b.release(64) }, "at most 8 owners"},
		{"eight of a large block", 1024, 1024, func(b *railBlock) { b.release(8) }, ""},
		{"nine of a large block", 1024, 1024, func(b *railBlock) { b.release(9) }, "at most 8 owners"},
		{"fifty free ones are recorded, as rebuild does", 64, 4, func(b *railBlock) { b.give(50) }, ""},
		{"nine go to another pod", 64, 40, func(b *railBlock) {
			for i := range 9 {
				b.Spec.Attributes[i]["handle_id"] = "mine"
			}
		}, "at most 8 owners"},
		{"one goes to another node", 64, 40, func(b *railBlock) { b.Spec.Attributes[3]["secondary"] = map[string]any{"node": "n2"} }, ""},
		{"the affinity of a block in use", 64, 40, func(b *railBlock) { b.Spec.Affinity = new("host:n2") }, "affinity of a block that is in use"},
		{"no affinity for a block in use", 64, 40, func(b *railBlock) { b.Spec.Affinity = nil }, "affinity of a block that is in use"},
		{"the affinity of an empty block", 64, 0, func(b *railBlock) { b.Spec.Affinity = nil }, ""},
		{"a sequence number downwards", 64, 40, func(b *railBlock) { b.Spec.SequenceNumber = 99 }, "sequence number"},
		{"deleted", 64, 40, func(b *railBlock) { b.Spec.Deleted = true }, "must not set deleted"},
		{"strictAffinity", 64, 40, func(b *railBlock) { b.Spec.StrictAffinity = true }, "strictAffinity"},
		{"an address in use offered", 64, 40, func(b *railBlock) { b.Spec.Unallocated = append(b.Spec.Unallocated, 3) }, "unallocated"},
		{"an address offered twice", 64, 40, func(b *railBlock) { b.Spec.Unallocated[1] = b.Spec.Unallocated[0] }, "unallocated"},
		{"a free address hidden", 64, 40, func(b *railBlock) { b.Spec.Unallocated = b.Spec.Unallocated[1:] }, "unallocated"},
		{"an ordinal that is none", 64, 40, func(b *railBlock) { b.Spec.Unallocated[0] = 64 }, "unallocated"},
		{"a smaller block", 64, 40, func(b *railBlock) { b.Spec.Allocations = b.Spec.Allocations[:40]; b.Spec.Unallocated = []int{} }, "at most 8 owners"},
	} {
		b := fresh(fmt.Sprintf("rail-%d", i), fmt.Sprintf("10.250.%d.0/26", i), c.size, c.held)
		c.edit(b)
		text, _ := json.Marshal(b)
		code, said := send("PUT", at+"/"+fmt.Sprint(b.Metadata["name"]), kube.AcceptJSON, string(text))
		if c.why == "" && code != 200 || c.why != "" && (code != 403 || !strings.Contains(said, c.why)) {
			t.Errorf("%s: %d %.400s", c.name, code, said)
		}
	}
	remove := func(name string, b *railBlock) (int, string) {
		return send("DELETE", at+"/"+name, kube.AcceptJSON, fmt.Sprintf(`{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":%q}}`, b.Metadata["uid"]))
	}
	if code, said := remove("gone-1", fresh("gone-1", "10.251.1.0/26", 64, 3)); code != 403 || !strings.Contains(said, "in use and has an affinity") {
		t.Errorf("a block in use: %d %s", code, said)
	}
	if code, said := remove("gone-2", fresh("gone-2", "10.251.2.0/26", 64, 0)); code != 200 {
		t.Errorf("an empty block: %d %s", code, said)
	}
	e.otherRails(t, c)
}

// otherRails: affinities and handles keep what they are about.
func (e *edge) otherRails(t *testing.T, c *kube.Client) {
	send, admin := bare(t, c), bare(t, e.admin)
	for _, o := range []struct{ kind, plural, spec, bad, good string }{
		{
			"BlockAffinity", "blockaffinities", `{"cidr":"10.252.0.0/26","node":"n1","state":"confirmed","deleted":"false"}`,
			`{"cidr":"10.252.0.0/26","node":"n2","state":"confirmed","deleted":"false"}|{"cidr":"10.252.0.64/26","node":"n1","state":"confirmed","deleted":"false"}|{"cidr":"10.252.0.0/26","node":"n1","state":"confirmed","deleted":"true"}`,
			`{"cidr":"10.252.0.0/26","node":"n1","state":"pending","deleted":"false"}`,
		},
		{
			"IPAMHandle", "ipamhandles", `{"handleID":"h","block":{"10.252.0.0/26":1},"deleted":false}`,
			`{"handleID":"other","block":{"10.252.0.0/26":1},"deleted":false}|{"handleID":"h","block":{"10.252.0.0/26":1},"deleted":true}`,
			`{"handleID":"h","block":{"10.252.0.0/26":2},"deleted":false}`,
		},
	} {
		at := "/apis/crd.projectcalico.org/v1/" + o.plural
		code, said := admin("POST", at, kube.AcceptJSON, fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":%q,"metadata":{"name":"rail"},"spec":%s}`, o.kind, o.spec))
		if code != 201 {
			t.Fatalf("%d %s", code, said)
		}
		var made struct{ Metadata identity }
		if err := json.Unmarshal([]byte(said), &made); err != nil {
			t.Fatal(err)
		}
		put := func(spec string) (int, string) {
			return send("PUT", at+"/rail", kube.AcceptJSON, fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":%q,"metadata":{"name":"rail","uid":%q,"resourceVersion":%q},"spec":%s}`,
				o.kind, made.Metadata.UID, made.Metadata.ResourceVersion, spec))
		}
		for bad := range strings.SplitSeq(o.bad, "|") {
			if code, said := put(bad); code != 403 {
				t.Errorf("%s %s: %d %s", o.kind, bad, code, said)
			}
		}
		if code, said := put(o.good); code != 200 {
			t.Errorf("%s %s: %d %s", o.kind, o.good, code, said)
		}
	}
}
