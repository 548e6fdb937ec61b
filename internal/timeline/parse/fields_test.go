package parse

import (
	"bytes"
	"testing"
)

func TestField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, key, want string }{
		{`Cleaning up netns ContainerID="340b" iface="eth0" netns=""`, "iface", "eth0"},
		{`Cleaning up netns ContainerID="340b" iface="eth0" netns=""`, "netns", ""},
		{`Workload=shop.db-0 labels=map[a:b]`, "Workload", "shop.db-0"},
		{` Workload=shop.db-0`, "Workload", "shop.db-0"},
		{`err="no pod=\"a b\" here" pod="real"`, "pod", "real"},
		{`err="no pod=fake here" pod=real`, "pod", "real"},
		{`mypod=a pod=b`, "pod", "b"},
		{`pods=a pod=b`, "pod", "b"},
		{`pod="a \"b\" c" x=1`, "pod", `a \"b\" c`},
		{`pod="cut off`, "pod", "cut off"},
		{`pod=`, "pod", ""},
		{`pod`, "pod", ""},
		{`pod="\`, "pod", `\`},
	} {
		if got := string(field([]byte(c.text), c.key)); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.key, c.text, got, c.want)
		}
	}
	if field([]byte("a=b"), "c") != nil || field([]byte("netns=\"\""), "netns") == nil {
		t.Error("a field that is empty looks like one that isn't there")
	}
}

func TestFieldAllocatesNothing(t *testing.T) {
	text := []byte(`Cleaning up netns ContainerID="340b" iface="eth0" netns=""`)
	if n := testing.AllocsPerRun(100, func() { field(text, "netns") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNodeOf(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"node1-k8s-etcd1--0-eth0":              "node1",
		"my--k8s--node-k8s-etcd1--0-eth0":      "my-k8s-node",
		"ip--10--0--0--1.ec2-k8s-a.b-eth0":     "ip-10-0-0-1.ec2",
		"node1-libnetwork-libnetwork-abc":      "",
		"node1-k8s":                            "",
		"lijiaob.etcd1-0":                      "",
		"":                                     "",
		"-k8s-pod-eth0":                        "",
		"node\x1b[31m-k8s-etcd1--0-eth0":       "",
		"&v3.WorkloadEndpoint{Name:\"a\"-k8s-": "",
	} {
		if got := nodeOf([]byte(endpoint)); got != want {
			t.Errorf("the node of %q is %q, want %q", endpoint, got, want)
		}
	}
}

func FuzzField(f *testing.F) {
	f.Add([]byte(`a="b \" c" d=e`), "d")
	f.Add([]byte(`a=`), "a")
	f.Fuzz(func(t *testing.T, text []byte, key string) {
		if got := field(text, key); got != nil && !bytes.Contains(text, got) {
			t.Errorf("%q is not in %q", got, text)
		}
		nodeOf(text)
		if got := variable(text, key); !bytes.Contains(text, got) {
			t.Errorf("%q is not in %q", got, text)
		}
	})
}
