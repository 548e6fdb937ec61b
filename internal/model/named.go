package model

import (
	"crypto/sha1" //nolint:gosec // Calico names devices by it
	"encoding/hex"
	"strings"
)

// ContainerOf is the end of a handle that is named after a container; empty if it is not.
func ContainerOf(handle string) string {
	handle, _, _ = strings.Cut(handle, "\r") // what old plugins left behind it
	i := strings.LastIndexByte(handle, '.')
	id := handle[i+1:]
	if i < 0 || len(id) < 12 || strings.Trim(strings.ToLower(id), "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// Reusable tells that a handle's name is its owner's, who may come back to it: a tunnel, a
// load balancer's service, a machine.
func Reusable(handle string) bool {
	return strings.Contains(handle, "-tunnel-addr-") || strings.HasPrefix(handle, "lb-") || strings.Contains(handle, ".vmi.")
}

// Legacy tells that a handle is named after the pod, as Calico 2 did it, and not after a
// container. Those that a repair of ours leaves are after neither.
func Legacy(handle string) bool {
	_, rest, ok := strings.Cut(handle, ".")
	return ok && !strings.HasPrefix(handle, "plumbline-") && ContainerOf(handle) == "" && !strings.Contains(rest, ".")
}

// PodName gives the pod that an attribute names. Calico 2 named it in the handle only.
func (a *Attribute) PodName() (namespace, name string) {
	if a.Pod != "" {
		return a.Namespace, a.Pod
	}
	if ns, pod, ok := strings.Cut(a.Handle, "."); ok && Legacy(a.Handle) {
		return ns, pod
	}
	return "", ""
}

// Machine is the KubeVirt machine that holds an address: it keeps it while it is stopped.
func (a *Attribute) Machine() string {
	if a.VM != "" {
		return a.VM
	}
	_, rest, ok := strings.Cut(a.Handle, ".vmi.")
	if !ok {
		return ""
	}
	if _, vm, ok := strings.Cut(rest, "."); ok {
		return vm
	}
	return rest
}

// DeviceName is what Calico calls the host's end of a pod's device.
func DeviceName(prefix, namespace, pod string) string {
	sum := sha1.Sum([]byte(namespace + "." + pod)) //nolint:gosec // see above
	return prefix + hex.EncodeToString(sum[:])[:11]
}
