package kube

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// A node says the same in either of its forms, both as Kubernetes' own library writes them.
func TestNodeWireIsItsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		node := anyNode(t)
		text, err := json.Marshal(node)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := node.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		want, err := ParseNode(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pickNode(wire)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, want)
		}
	})
}

func anyNode(t *rapid.T) *corev1.Node {
	word := rapid.SampledFrom([]string{"", "w1", "InternalIP", "Ready", "10.0.0.1", "fd00::1", "::ffff:10.0.0.2", "10.0.0.0/24", "no address", "True", "NoSchedule"})
	some := func(each func()) {
		for range rapid.IntRange(0, 3).Draw(t, "some") {
			each()
		}
	}
	time := func() metav1.Time { return at(rapid.Int64Range(1, 2e9).Draw(t, "time")) }
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: word.Draw(t, "name"), UID: types.UID(word.Draw(t, "uid")), ResourceVersion: word.Draw(t, "revision"), CreationTimestamp: time(),
		Labels: map[string]string{tunnels[0].annotation: "10.9.9.9"}, Annotations: map[string]string{"other": "10.8.8.8"},
	}}
	some(func() {
		n.Annotations[tunnels[rapid.IntRange(0, len(tunnels)-1).Draw(t, "tunnel")].annotation] = word.Draw(t, "at")
	})
	some(func() {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: word.Draw(t, "key"), Value: "v", Effect: corev1.TaintEffect(word.Draw(t, "effect"))})
	})
	some(func() { n.Spec.PodCIDRs = append(n.Spec.PodCIDRs, word.Draw(t, "cidr")) })
	some(func() {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeConditionType(word.Draw(t, "type")), Status: corev1.ConditionStatus(word.Draw(t, "status")), LastTransitionTime: time(), LastHeartbeatTime: time(), Message: "m",
		})
	})
	some(func() {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeAddressType(word.Draw(t, "kind")), Address: word.Draw(t, "address")})
	})
	n.Status.NodeInfo = corev1.NodeSystemInfo{BootID: word.Draw(t, "boot"), OperatingSystem: word.Draw(t, "os"), OSImage: "image", MachineID: "machine"}
	return n
}

func FuzzNode(f *testing.F) {
	b, err := (&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w1"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "k"}}}}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) {
		n, err := pickNode(b)
		_, _ = fmt.Sprint(n), err // anything may come out, but it comes out
	})
}
