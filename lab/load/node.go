package load

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// labels are those that the kubelet sets on its node.
func (h host) labels() map[string]string {
	return map[string]string{
		"beta.kubernetes.io/arch": "amd64",
		"beta.kubernetes.io/os":   "linux",
		"kubernetes.io/arch":      "amd64",
		"kubernetes.io/hostname":  h.name,
		"kubernetes.io/os":        "linux",
	}
}

// cidr is the node's address and network, as Calico records it.
func (h host) cidr() string { return fmt.Sprintf("%s/%d", h.address, nodeNet.Bits()) }

// storedNode is the node as the API server stores it; with annotations, if Calico stores
// its node data in annotations.
func storedNode(h host, annotated bool, now time.Time) (put, error) {
	o := metav1.ObjectMeta{
		Name: h.name, UID: types.UID(h.uid), CreationTimestamp: metav1.NewTime(h.created), Labels: h.labels(),
		Annotations:   map[string]string{"node.alpha.kubernetes.io/ttl": "300", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		ManagedFields: []metav1.ManagedFieldsEntry{managed("kubelet", "", nodeBirthFields, h.created)},
	}
	if annotated {
		o.Annotations["projectcalico.org/IPv4Address"] = h.cidr()
		o.Annotations["projectcalico.org/IPv4VXLANTunnelAddr"] = h.tunnel.String()
		o.Annotations["projectcalico.org/Interfaces"] = fmt.Sprintf(`[{"name":"eth0","addresses":[%q]}]`, h.address)
		o.ManagedFields = append(o.ManagedFields, managed("calico-node", "status", nodeCalicoFields, h.created.Add(2*time.Second)))
	}
	o.ManagedFields = append(o.ManagedFields,
		managed("kube-controller-manager", "", nodeControllerFields, h.created.Add(3*time.Second)),
		managed("kubelet", "status", nodeStatusFields, now))
	return stored("/registry/minions/"+h.name, "Node", &corev1.Node{ObjectMeta: o, Status: h.status(now)})
}

// What a node has, and the part of it that pods can use.
var capacity, allocatable = nodeResources("65842740Ki"), nodeResources("65740340Ki")

func nodeResources(memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              quantity("16"),
		corev1.ResourceEphemeralStorage: quantity("203056560Ki"),
		"hugepages-1Gi":                 quantity("0"),
		"hugepages-2Mi":                 quantity("0"),
		corev1.ResourceMemory:           quantity(memory),
		corev1.ResourcePods:             quantity("110"),
	}
}

func (h host) status(now time.Time) corev1.NodeStatus {
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(h.created), Reason: reason, Message: message,
		}
	}
	s := corev1.NodeStatus{
		Capacity:    capacity,
		Allocatable: allocatable,
		Conditions: []corev1.NodeCondition{
			condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
			condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
			condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
		},
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: h.address.String()}, {Type: corev1.NodeHostName, Address: h.name}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID: h.machine, SystemUUID: h.machine, BootID: h.boot, KernelVersion: "6.1.0-28-amd64", OSImage: "Debian GNU/Linux 12 (bookworm)",
			ContainerRuntimeVersion: "containerd://1.6.20", KubeletVersion: "v1.34.4", OperatingSystem: "linux", Architecture: "amd64",
		},
	}
	for i, image := range []string{"registry.k8s.io/pause:3.10", "docker.io/calico/node:v3.31.0", "docker.io/calico/cni:v3.31.0", "registry.k8s.io/kube-proxy:v1.34.4"} {
		s.Images = append(s.Images, corev1.ContainerImage{Names: []string{image}, SizeBytes: int64(i*71_000_000 + 742_785)})
	}
	return s
}
