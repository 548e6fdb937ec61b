package executetest

import (
	"encoding/json"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// build makes a healthy cluster: nodes with their blocks and tunnels, and pods that run.
func (w *world) build() {
	for i := range 2 + w.pick(3) {
		n := &node{name: "n" + strconv.Itoa(i+1), boot: 1, gvisor: w.one(6)}
		n.calico = n.name
		n.called = []string{n.name}
		w.nodes = append(w.nodes, n)
		w.kube.swap(others, nodeRef(n.name), nil, &row{value: &machine{Name: n.name, BootID: n.bootID(), Ready: true, Changed: begin, created: begin}})
		for _, four := range []bool{true, false} {
			if four || w.dual {
				c := &claim{n: n, four: four}
				c.choose(w, nil)
				c.create(w, nil)
				c.confirm(w, nil)
			}
		}
		w.tunnelUp(n)
	}
	for range 3 + w.pick(5) {
		w.launch()
		w.settles(w.kubelets[len(w.kubelets)-1])
	}
	if w.full {
		w.daemons()
	}
	w.future()
	w.collector.begin(w)
	w.now += w.between(time.Minute, 2*time.Hour)
}

// future puts fields of a Calico to come into objects: they must survive whatever we write.
func (w *world) future() {
	for _, r := range append([]*row(nil), w.calico.all(model.KindBlock)...) {
		if !w.one(3) {
			continue
		}
		b := cloneBlock(r.value.(*object.Block))
		b.Extra = lossless.Extra{"futureField": json.RawMessage(`{"n":9007199254740993}`)}
		b.AffinityClaimTime = lossless.Some(json.RawMessage(`"2026-01-01T00:00:00Z"`))
		w.calico.swap(others, r.ref, r, &row{value: b})
	}
	for _, r := range append([]*row(nil), w.calico.all(model.KindHandle)...) {
		if !w.one(4) {
			continue
		}
		h := *r.value.(*object.Handle)
		h.Extra = lossless.Extra{"futureField": json.RawMessage(`18446744073709551615`)}
		w.calico.swap(others, r.ref, r, &row{value: &h})
	}
}

func affinityLabels(w *world, node string, four bool) map[string]string {
	if w.etcd {
		return nil
	}
	version := "6"
	if four {
		version = "4"
	}
	return map[string]string{"projectcalico.org/hostname-hash": "HASHOF" + node, "projectcalico.org/affinity-type": "host", "projectcalico.org/ip-version": version}
}
