package model

import "strings"

// EndpointName is what Calico calls the endpoint of a pod on what it calls the node: namespace, then node,
// orchestrator, pod and interface, with dashes inside the parts doubled.
func EndpointName(node string, pod *Pod) string {
	return pod.Namespace + "/" + EndpointIn(node, pod.Name)
}

// EndpointIn is its name within the namespace.
func EndpointIn(node, pod string) string { return doubled(node) + "-k8s-" + doubled(pod) + "-eth0" }

func doubled(s string) string { return strings.ReplaceAll(s, "-", "--") }
