package lab

import (
	"context"
	"fmt"
)

// A Pod has the fields of a pod that the scenarios use.
type Pod struct {
	Metadata struct {
		Name, Namespace, UID string
		DeletionTimestamp    string
		Annotations          map[string]string
	}
	Spec struct {
		NodeName    string
		HostNetwork bool
	}
	Status struct {
		Phase, PodIP string
		Conditions   []struct{ Type, Status string }
	}
}

// Ready returns whether the pod's Ready condition is true.
func (p Pod) Ready() bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// Annotations that Calico's CNI plugin writes in KDD mode.
const (
	AnnotationIP        = "cni.projectcalico.org/podIP"
	AnnotationContainer = "cni.projectcalico.org/containerID"
)

// Pod reads one pod.
func (l *Lab) Pod(ctx context.Context, namespace, name string) (Pod, error) {
	var p Pod
	err := l.Get(ctx, fmt.Sprintf("/api/v1/namespaces/%s/pods/%s", namespace, name), &p)
	return p, err
}

// Pods reads the pods of a namespace ("" means all).
func (l *Lab) Pods(ctx context.Context, namespace, selector string) ([]Pod, error) {
	path := "/api/v1/pods"
	if namespace != "" {
		path = "/api/v1/namespaces/" + namespace + "/pods"
	}
	var list struct{ Items []Pod }
	err := l.Get(ctx, path+"?labelSelector="+selector, &list)
	return list.Items, err
}
