package model

import "strings"

// EndpointName is the name of a pod's WorkloadEndpoint: NAMESPACE/, then Calico's node name,
// orchestrator, pod and interface, with dashes inside the parts doubled.
func EndpointName(node string, pod *Pod) string {
	return pod.Namespace + "/" + EndpointIn(node, pod.Name)
}

// EndpointIn is the name without the namespace.
func EndpointIn(node, pod string) string { return doubled(node) + "-k8s-" + doubled(pod) + "-eth0" }

func doubled(s string) string { return strings.ReplaceAll(s, "-", "--") }
