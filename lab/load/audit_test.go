package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
)

// TestReportedFaultsAreThoseWritten checks the written objects, without knowledge of how
// they were made, and finds each reported fault and no other.
func TestReportedFaultsAreThoseWritten(t *testing.T) {
	t.Parallel()
	for _, d := range []lab.Datastore{lab.KDD, lab.Etcd} {
		c := everything
		if d == lab.KDD {
			c.Faults = maps.Clone(c.Faults)
			delete(c.Faults, StaleEndpoint)
		}
		p := mustPlan(t, c, d)
		var want []string
		w := world{pods: map[string]pod{}, nodes: map[string]bool{}, endpoints: map[string]string{}, handles: map[string]map[string]int{}}
		for i := range p.nodes {
			cell := p.cell(i)
			w.nodes[cell.host.name] = true
			for _, f := range cell.faults {
				want = append(want, fmt.Sprint(f.Kind, " ", f.Subject))
			}
			for _, pod := range cell.pods {
				w.pods[pod.key()] = pod
				if d == lab.KDD && pod.endpoint {
					w.endpoints[pod.key()] = pod.address.String()
				}
			}
		}
		for _, stored := range p.stored(t) {
			w.read(t, stored)
		}
		got := w.audit()
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found\n%s\nreported\n%s", d, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A world is the stored state, read back from its JSON.
type world struct {
	pods       map[string]pod
	nodes      map[string]bool
	endpoints  map[string]string // address by pod
	handles    map[string]map[string]int
	blocks     []block
	affinities []string // NODE CIDR
}

// read adds one stored object.
func (w *world) read(t *testing.T, p put) {
	t.Helper()
	var v struct {
		Spec json.RawMessage
	}
	into := func(raw []byte, to any) {
		if err := json.Unmarshal(raw, to); err != nil {
			t.Errorf("read %s: %v", p.key, err)
		}
	}
	spec := p.value
	if strings.HasPrefix(p.key, "/registry/crd") || strings.HasPrefix(p.key, calicoResources) {
		into(p.value, &v)
		spec = v.Spec
	}
	switch {
	case strings.Contains(p.key, "/ipamblocks/"), strings.Contains(p.key, "/assignment/"):
		var b block
		into(spec, &b)
		w.blocks = append(w.blocks, b)
	case strings.Contains(p.key, "/ipamhandles/"), strings.Contains(p.key, "/handle/"):
		var h struct{ Block map[string]int }
		into(spec, &h)
		w.handles[p.key[strings.LastIndex(p.key, "/")+1:]] = h.Block
	case strings.Contains(p.key, "/blockaffinities/"):
		var a affinitySpec
		into(spec, &a)
		w.affinities = append(w.affinities, a.Node+" "+a.CIDR)
	case strings.HasPrefix(p.key, calicoIPAM+"host/"):
		part := strings.Split(strings.TrimPrefix(p.key, calicoIPAM+"host/"), "/")
		w.affinities = append(w.affinities, part[0]+" "+strings.Replace(part[3], "-", "/", 1))
	case strings.Contains(p.key, "/workloadendpoints/"):
		var e endpointSpec
		into(spec, &e)
		ns := strings.Split(strings.TrimPrefix(p.key, calicoResources), "/")[1]
		w.endpoints[ns+"/"+e.Pod] = strings.TrimSuffix(e.Networks[0], "/32")
	}
}

// audit lists all faults.
func (w *world) audit() (found []string) {
	say := func(k Kind, subject string) { found = append(found, fmt.Sprint(k, " ", subject)) }
	owner := map[string]attribute{}
	held := map[string]int{}
	cidrs := map[string]bool{}
	for _, b := range w.blocks {
		cidrs[b.CIDR] = true
		first := netip.MustParsePrefix(b.CIDR).Addr()
		for ord, at := range b.Allocations {
			if at == nil {
				continue
			}
			if *at >= len(b.Attributes) {
				say(BadIndex, b.CIDR)
				continue
			}
			owner[addressAt(first, ord).String()] = b.Attributes[*at]
			held[b.Attributes[*at].Handle]++
		}
	}
	for ip, a := range owner {
		if _, ok := w.handles[a.Handle]; !ok {
			say(MissingHandle, a.Handle)
		}
		if a.Secondary["type"] != "" {
			continue
		}
		p, ok := w.pods[a.Secondary["namespace"]+"/"+a.Secondary["pod"]]
		switch {
		case !ok:
			say(Leaked, ip)
		case a.Secondary["node"] != p.host.name && w.nodes[a.Secondary["node"]]:
			say(WrongNode, ip)
		}
	}
	for id, blocks := range w.handles {
		for _, n := range blocks {
			if held[id] == 0 {
				say(OrphanHandle, id)
			} else if held[id] != n {
				say(MiscountedHandle, id)
			}
		}
	}
	users := map[string]int{}
	for key, p := range w.pods {
		ip := p.address.String()
		if p.finished {
			if _, ok := owner[ip]; !ok {
				say(Finished, ip)
			}
			continue
		}
		if users[ip]++; users[ip] == 2 {
			say(SharedAddress, ip)
		}
		if _, ok := owner[ip]; !ok {
			say(Unallocated, ip)
		}
		if w.endpoints[key] != ip {
			say(NoAnnotation, ip)
		}
	}
	for key, ip := range w.endpoints {
		if _, ok := w.pods[key]; !ok {
			say(StaleEndpoint, ip)
		}
	}
	for _, a := range w.affinities {
		node, cidr, _ := strings.Cut(a, " ")
		if !w.nodes[node] && !cidrs[cidr] {
			say(GoneNodeAffinity, cidr)
		}
	}
	return found
}
