package loggen

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// addWithoutDel replays a node that went down: its pod gets another sandbox and address, and no DEL
// of the first sandbox is ever called.
func (h *History) addWithoutDel() {
	n := h.node(false, false)
	if n == nil {
		return
	}
	at, name := h.at(), h.pod()
	add, del := h.any("add"), h.any("del")
	a := h.life(name, n, at, h.Lasts)
	h.play(add, n, at, a.values)
	at += time.Duration(add.span) + h.seconds(10, 120)
	h.play(h.any("containerd-start"), n, at, nil)
	h.play(h.any("kubelet-start"), n, at+h.seconds(1, 3), nil)
	at += h.seconds(5, 20)
	b := h.life(name, n, at, h.Lasts)
	b.values["uid"] = a.values["uid"]
	h.play(add, n, at, b.values)
	h.play(del, n, at+time.Duration(add.span)+h.seconds(30, 200), b.values)
	h.must("ADD without DEL", timeline.AddWithoutDel, name, n, a.values["sandbox"], b.values["sandbox"])
	h.must("ADD without DEL", timeline.AddressMoved, name, n, a.values["sandbox"], b.values["sandbox"])
}

// runtime are words of lines of the runtime, and of requests of its CNI plugin.
var runtime = []string{" [INFO][", " [WARNING][", "time=\"20", "calico-cni-plugin"}

// delNeverCame replays a pod that Kubernetes and the kubelet report as gone, and whose sandbox the
// runtime never tore down. The files must continue and contain DELs to show that one is missing:
// another pod is created and deleted there later.
func (h *History) delNeverCame() {
	n := h.node(false, false)
	if n == nil {
		return
	}
	at, name := h.at(), h.pod()
	of := []string{"etcd", "kdd"}[h.IntN(2)]
	add, del := h.named("add-churn-"+of), h.named("del-churn-"+of)
	l := h.life(name, n, at, h.Lasts)
	h.play(add, n, at, l.values)
	at += time.Duration(add.span) + h.seconds(10, 120)
	h.play(del, n, at, l.values, runtime...)
	at += time.Duration(del.span) + h.seconds(150, 300)
	other := h.life(h.pod(), n, at, at+2*time.Minute)
	h.signal = false
	h.play(add, n, at, other.values)
	h.play(del, n, at+time.Duration(add.span)+h.seconds(10, 60), other.values)
	h.signal = true
	h.must("DEL never came", timeline.DelNeverCame, name, n, l.values["sandbox"], "")
}
