package model

// EndpointName is what Calico calls the endpoint of a pod on what it calls the node: namespace, then node,
// orchestrator, pod and interface, with dashes inside the parts doubled.
func EndpointName(node string, pod *Pod) string {
	return pod.Namespace + "/" + doubled(node) + "-k8s-" + doubled(pod.Name) + "-eth0"
}

func doubled(s string) string {
	out := make([]byte, 0, len(s)+4)
	for i := range len(s) {
		if s[i] == '-' {
			out = append(out, '-')
		}
		out = append(out, s[i])
	}
	return string(out)
}
