package kube

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestParseNode(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "w1"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeDiskPressure, Status: "False", LastTransitionTime: at(9)},
			{Type: corev1.NodeReady, Status: "Unknown", LastTransitionTime: at(700), LastHeartbeatTime: at(5)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := ParseNode(b); err != nil || n.Name != "w1" || n.Ready || n.Changed != 700 {
		t.Errorf("%+v, %v", n, err)
	}
}
