package model

import (
	"crypto/fips140"
	"crypto/sha1" //nolint:gosec // Calico derives interface names from it
	"encoding/hex"
	"strings"
)

// ContainerOf is the container ID in a handle's name; empty if the handle is not named after
// a container.
func ContainerOf(handle string) string {
	handle, _, _ = strings.Cut(handle, "\r") // old plugins appended more
	i := strings.LastIndexByte(handle, '.')
	id := handle[i+1:]
	if i < 0 || len(id) < 12 || strings.Trim(strings.ToLower(id), "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// Reusable reports whether a handle is named after an owner that may use it again: a tunnel,
// a LoadBalancer service, a KubeVirt VM.
func Reusable(handle string) bool {
	return strings.Contains(handle, "-tunnel-addr-") || strings.HasPrefix(handle, "lb-") || strings.Contains(handle, ".vmi.")
}

// Legacy reports whether a handle is named after the pod, as in Calico 2, and not after a
// container. Temporary handles of Plumbline's repairs are neither.
func Legacy(handle string) bool {
	_, rest, ok := strings.Cut(handle, ".")
	return ok && !strings.HasPrefix(handle, "plumbline-") && ContainerOf(handle) == "" && !strings.Contains(rest, ".")
}

// PodName returns the pod that an attribute names. In Calico 2 only the handle names it.
func (a *Attribute) PodName() (namespace, name string) {
	if a.Pod != "" {
		return a.Namespace, a.Pod
	}
	if ns, pod, ok := strings.Cut(a.Handle, "."); ok && Legacy(a.Handle) {
		return ns, pod
	}
	return "", ""
}

// Machine is the KubeVirt VM that holds an address, also while it is stopped; else empty.
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

// DeviceName is Calico's name for the host interface of a pod.
func DeviceName(prefix, namespace, pod string) string {
	var sum [sha1.Size]byte
	// The name is Calico's, and protects nothing: also where only approved algorithms are enforced.
	fips140.WithoutEnforcement(func() {
		sum = sha1.Sum([]byte(namespace + "." + pod)) //nolint:gosec // see above
	})
	return prefix + hex.EncodeToString(sum[:])[:11]
}
