package executetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// snapshot reads the cluster as Plumbline does: Kubernetes, then Calico, then the nodes. Skew
// is the number of steps of other writers in between.
func (w *world) snapshot(skew int) *model.Snapshot {
	s := &model.Snapshot{Meta: model.Meta{Schema: 1, GUID: "sim", Taken: w.time()}}
	s.Info = []model.Info{{GUID: "sim", Calico: "v3.31.0", Datastore: w.datastore(), Ready: true, IPAM: "calico", Networking: "calico"}}
	s.Collector = []model.GarbageCollectorConfig{{LeakGracePeriod: w.collector.gracePeriod}}
	s.Pools = []model.Pool{{Name: "four", CIDR: pool4, BlockSize: 29}}
	if w.dual {
		s.Pools = append(s.Pools, model.Pool{Name: "six", CIDR: pool6, BlockSize: 125})
	}
	for _, t := range model.Tables() {
		if !t.OfNode() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
		}
	}
	w.snapshotKube(s)
	w.ticks(skew)
	w.snapshotCalico(s)
	w.ticks(skew)
	w.snapshotNodes(s)
	return s
}

func (w *world) datastore() string {
	if w.etcd {
		return "etcd"
	}
	return "kdd"
}

func (w *world) snapshotKube(s *model.Snapshot) {
	for _, r := range w.kube.all(model.KindNode) {
		m := r.value.(*machine)
		n := model.Node{Name: r.ref.Name, UID: r.uid, BootID: m.BootID, Ready: m.Ready, Silent: m.Silent, Changed: m.Changed, Created: m.created, Revision: r.rev(), Taints: m.Taints}
		if m.tunnel.IsValid() {
			n.Tunnels = []model.Tunnel{{Kind: "vxlan", IP: m.tunnel}}
		}
		s.Nodes = append(s.Nodes, n)
		if w.etcd {
			s.Hosts = append(s.Hosts, model.Host{Name: n.Name, Kubernetes: n.Name, Tunnels: n.Tunnels})
		}
	}
	for _, r := range w.kube.all(model.KindPod) {
		s.Pods = append(s.Pods, podRow(r))
	}
}

func podRow(r *row) model.Pod {
	p := r.value.(*pod)
	ns, name, _ := strings.Cut(r.ref.Name, "/")
	out := model.Pod{
		Namespace: ns, Name: name, UID: r.uid, Node: p.Node, Phase: model.Phase(p.Phase), HostNetwork: p.HostNetwork, Ready: p.ready,
		Created: p.created, Deleted: p.deleted, Written: r.written, IPs: p.ips, ContainerID: p.ContainerID, Owner: p.Owner, Revision: r.rev(),
	}
	switch {
	case !p.Annotated:
	case p.PodIP == "":
		out.Annotation = model.Emptied
	default:
		out.Annotation = model.Written
		for _, text := range strings.Split(p.PodIPs, ",") {
			if q, err := netip.ParsePrefix(text); err == nil {
				out.Annotated = append(out.Annotated, q.Addr())
			}
		}
	}
	return out
}

func (w *world) snapshotCalico(s *model.Snapshot) {
	for _, r := range w.calico.all(model.KindBlock) {
		s.Blocks = append(s.Blocks, w.blockRow(r))
	}
	for _, r := range w.calico.all(model.KindHandle) {
		h := r.value.(*object.Handle)
		out := model.Handle{ID: cmp.Or(h.ID.V, r.ref.Name), Name: r.ref.Name, Deleted: h.Deleted.V, UID: r.uid, Written: w.when(r), Revision: r.rev()}
		for c, n := range h.Block.V {
			out.Blocks = append(out.Blocks, model.BlockCount{CIDR: netip.MustParsePrefix(c), Count: n})
		}
		slices.SortFunc(out.Blocks, func(a, b model.BlockCount) int { return a.CIDR.Addr().Compare(b.CIDR.Addr()) })
		s.Handles = append(s.Handles, out)
	}
	for _, r := range w.calico.all(model.KindAffinity) {
		a := r.value.(*object.Affinity)
		node, cidr := affinityOf(r.ref.Name)
		s.Affinities = append(s.Affinities, model.Affinity{
			Name: node + "-" + model.BlockName(cidr), Node: node, Type: "host", CIDR: cidr, State: cmp.Or(a.State.V, "confirmed"),
			Deleted: strings.Contains(string(a.Deleted.V), "true"), Labelled: w.etcd || len(r.labels) > 0, UID: r.uid, Written: w.when(r), Revision: r.rev(),
		})
	}
	for _, r := range w.calico.all(model.KindEndpoint) {
		e := r.value.(*endpoint)
		ns, name, _ := strings.Cut(r.ref.Name, "/")
		s.Endpoints = append(s.Endpoints, model.Endpoint{
			Namespace: ns, Name: name, Node: e.spec.Node.V, Orchestrator: e.spec.Orchestrator.V, Pod: e.spec.Pod.V, Interface: e.spec.Endpoint.V,
			Device: e.spec.Interface.V, ContainerID: e.spec.ContainerID.V, MAC: e.spec.MAC.V, IPs: e.ips, Revision: r.rev(),
		})
	}
}

// when an object was written: etcd does not know.
func (w *world) when(r *row) model.Time {
	if w.etcd {
		return 0
	}
	return r.written
}

func (w *world) blockRow(r *row) model.Block {
	b := r.value.(*object.Block)
	cidr := netip.MustParsePrefix(r.ref.Name)
	out := model.Block{
		Name: model.BlockName(cidr), CIDR: cidr, Affinity: b.Affinity.V, Length: len(b.Allocations.V), Free: slices.Clone(b.Unallocated.V),
		Sequence: b.Sequence.V, Deleted: b.Deleted.V, UID: r.uid, Written: w.when(r), Revision: r.rev(),
	}
	for o, at := range b.Allocations.V {
		if at != nil {
			out.Held = append(out.Held, model.Slot{int32(o), *at})
		}
		if n, ok := b.Sequences.V[strconv.Itoa(o)]; ok {
			out.Sequences = append(out.Sequences, model.Sequence{Ordinal: int32(o), Number: n})
		}
	}
	for i := range b.Attributes.V {
		out.Attributes = append(out.Attributes, b.Attributes.V[i].Row())
	}
	return out
}

// podJSON is a pod as Calico's plugin reads it.
func (w *world) podJSON(ns, name string) (json.RawMessage, error) {
	r := w.kube.get(podRef(ns, name))
	if r == nil {
		return nil, fmt.Errorf("pod %s/%s: no such pod", ns, name)
	}
	p := r.value.(*pod)
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"name": name, "namespace": ns, "uid": r.uid},
		"spec":     map[string]any{"nodeName": p.Node, "serviceAccountName": "default"},
	})
}

func (w *world) endpointJSON(ns, name string) (json.RawMessage, error) {
	r := w.calico.get(model.Ref{Kind: model.KindEndpoint, Name: ns + "/" + name})
	if r == nil {
		return nil, fmt.Errorf("endpoint %s/%s: no such endpoint", ns, name)
	}
	return r.json(), nil
}
