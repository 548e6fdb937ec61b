package load

import (
	"fmt"
	"time"
)

// labels are those that the kubelet sets on its node.
func (h host) labels() [][2]string {
	return [][2]string{
		{"beta.kubernetes.io/arch", "amd64"},
		{"beta.kubernetes.io/os", "linux"},
		{"kubernetes.io/arch", "amd64"},
		{"kubernetes.io/hostname", h.name},
		{"kubernetes.io/os", "linux"},
	}
}

// cidr is the node's address and network, as Calico records it.
func (h host) cidr() string { return fmt.Sprintf("%s/%d", h.address, nodeNet.Bits()) }

// storedNode is the node as the API server stores it; with annotations, if Calico stores
// its node data in annotations.
func storedNode(h host, annotated bool, now time.Time) put {
	o := meta{
		name: h.name, uid: h.uid, created: h.created, labels: h.labels(),
		annotations: [][2]string{{"node.alpha.kubernetes.io/ttl", "300"}},
		managed:     []managed{{"kubelet", "", nodeBirthFields, h.created}},
	}
	if annotated {
		o.annotations = append(o.annotations, [][2]string{
			{"projectcalico.org/IPv4Address", h.cidr()},
			{"projectcalico.org/IPv4VXLANTunnelAddr", h.tunnel.String()},
			{"projectcalico.org/Interfaces", fmt.Sprintf(`[{"name":"eth0","addresses":[%q]}]`, h.address)},
		}...)
		o.managed = append(o.managed, managed{"calico-node", "status", nodeCalicoFields, h.created.Add(2 * time.Second)})
	}
	o.annotations = append(o.annotations, [2]string{"volumes.kubernetes.io/controller-managed-attach-detach", "true"})
	o.managed = append(o.managed,
		managed{"kube-controller-manager", "", nodeControllerFields, h.created.Add(3 * time.Second)},
		managed{"kubelet", "status", nodeStatusFields, now})
	return put{"/registry/minions/" + h.name, stored("Node", func(m *message) {
		m.meta(o)
		m.text(2, "")
		m.nest(3, func() { m.nodeStatus(h, now) })
	})}
}

func (m *message) nodeStatus(h host, now time.Time) {
	for i, memory := range []string{"65842740Ki", "65740340Ki"} { // capacity, and the allocatable part of it
		field := i + 1
		m.quantity(field, "cpu", "16")
		m.quantity(field, "ephemeral-storage", "203056560Ki")
		m.quantity(field, "hugepages-1Gi", "0")
		m.quantity(field, "hugepages-2Mi", "0")
		m.quantity(field, "memory", memory)
		m.quantity(field, "pods", "110")
	}
	for _, c := range [][4]string{
		{"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
		{"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
	} {
		m.nest(4, func() {
			m.text(1, c[0])
			m.text(2, c[1])
			m.time(3, now)
			m.time(4, h.created)
			m.text(5, c[2])
			m.text(6, c[3])
		})
	}
	m.entry(5, "InternalIP", h.address.String())
	m.entry(5, "Hostname", h.name)
	m.nest(6, func() { m.nest(1, func() { m.number(1, 10250) }) })
	m.nest(7, func() {
		for i, s := range []string{
			h.machine, h.machine, h.boot, "6.1.0-28-amd64", "Debian GNU/Linux 12 (bookworm)",
			"containerd://1.6.20", "v1.34.4", "", "linux", "amd64",
		} {
			m.text(i+1, s)
		}
	})
	for i, image := range []string{"registry.k8s.io/pause:3.10", "docker.io/calico/node:v3.31.0", "docker.io/calico/cni:v3.31.0", "registry.k8s.io/kube-proxy:v1.34.4"} {
		m.nest(8, func() {
			m.text(1, image)
			m.number(2, uint64(i*71_000_000+742_785))
		})
	}
}
