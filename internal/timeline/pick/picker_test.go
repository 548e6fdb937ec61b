package pick

import (
	"strings"
	"testing"
	"time"
)

var now0 = time.Date(2026, 11, 15, 14, 0, 0, 0, time.UTC)

// pickAll gives the numbers of the lines that are picked.
func pickAll(q Question, source, text string) []int {
	p := NewMatcher(q).Pick(source, now0, nil)
	var out []int
	n := 0
	for line := range strings.Lines(text) {
		n++
		if p.Wants([]byte(strings.TrimRight(line, "\n"))) {
			out = append(out, n)
		}
	}
	return out
}

func TestPicks(t *testing.T) {
	t.Parallel()
	pod := Question{Namespace: "ns", Pod: "p"}
	for _, c := range []struct {
		name, source string
		q            Question
		lines        []string
		want         []int
	}{
		{"the same IPAM process", "cni", pod, []string{
			`2026-11-15 13:06:34.000 [INFO][287] ipam/ipam_plugin.go 438: About to acquire host-wide IPAM lock.`,
			`2026-11-15 13:06:35.000 [INFO][287] ipam/ipam_plugin.go 301: Auto assigning IP Attrs:{"namespace":"ns", "pod":"p"}`,
			`2026-11-15 13:06:35.100 [INFO][287] ipam/ipam_plugin.go 453: Acquired host-wide IPAM lock.`,
			`2026-11-15 13:06:35.200 [INFO][288] ipam/ipam_plugin.go 453: Acquired host-wide IPAM lock.`,
			`2026-11-15 13:06:35.300 [INFO][287] ipam/ipam.go 409: x ContainerID="` + boxB + `"`,
			`2026-11-15 13:06:39.900 [INFO][287] ipam/ipam_plugin.go 459: Released host-wide IPAM lock.`,
			`2026-11-15 13:06:44.000 [INFO][287] ipam/ipam_plugin.go 459: Released host-wide IPAM lock.`,
		}, []int{2, 3, 6}},
		{"CNI of 2017 in the kubelet's log", "kubelet", pod, []string{
			`Dec 12 20:22:24 h kubelet[1]: time="2017-12-12T20:22:24+08:00" level=info msg="Get Key: /calico/ipam/v2/config"`,
			`Dec 12 20:22:24 h kubelet[1]: time="2017-12-12T20:22:24+08:00" level=info msg="Releasing address using workloadID" Workload=ns.p`,
			`Dec 12 20:22:24 h kubelet[1]: time="2017-12-12T20:22:24+08:00" level=info msg="Get Key: /calico/ipam/v2/assignment/ipv4/block/192.168.176.64-26"`,
			`Dec 12 20:22:25 h kubelet[1]: I1212 something else`,
			`Dec 12 20:22:25 h kubelet[1]: time="…" msg="Configured environment: [CNI_COMMAND=DEL CNI_CONTAINERID=` + boxB + ` K8S_POD_NAMESPACE=o;K8S_POD_NAME=q"`,
			`Dec 12 20:22:25 h kubelet[1]: Calico CNI releasing IP address`,
		}, []int{2, 3}},
		{"lines that go on", "kubelet", pod, []string{
			"I1115 13:06:26.1 1 x.go:1] ns/p err=<", "\tmount failed", "\t-----BEGIN RSA PRIVATE KEY-----", "\tMIIE", "I1115 13:06:26.2 1 x", "\tof another",
		}, []int{1, 2}},
		{"the kubelet's life", "kubelet", pod, []string{
			`I1115 13:06:26.209407 36 server.go:529] "Kubelet version" kubeletVersion="v1.34.4"`,
			`I1115 13:06:26.443089 36 server.go:1262] "Started kubelet"`,
			`I1115 13:06:26.443089 36 kubelet_node_status.go:1] "Node became not ready" node="n"`,
			`I1115 13:06:26.443089 36 x.go:1] "something"`,
		}, []int{1, 2, 3}},
		{"not the kubelet's", "cni", pod, []string{`"Started kubelet"`}, nil},
		{
			"a span of time", "kubelet",
			Question{Namespace: "ns", Pod: "p", Since: now0.Add(-time.Hour), Until: now0.Add(-time.Minute)},
			[]string{
				"I1115 12:59:58.000000 1 x] ns/p", "I1115 13:00:00.000000 1 x] ns/p", "E1115 13:59:00.000000 1 x] ns/p", "I1115 13:59:01.000000 1 x] ns/p",
				"2026-11-15T21:30:00.5+08:00 ns/p", "2026-11-15T13:30:00+08:00 ns/p", `time="2026-11-15T13:30:00Z" ns/p`, "Nov 15 13:30:00 ns/p", "Nov 15 12:30:00 ns/p",
				`0a0b0c0d {"at":"2026-11-15T13:30:00.1Z","x":"ns/p"}`, `0a0b0c0d {"at":"2026-11-15T12:30:00.1Z","x":"ns/p"}`,
				"2026-11-15 13:30:00.123 [INFO][1] ns/p", "no stamp ns/p", "I1231 13:30:00.000000 1 of last year ns/p",
			},
			[]int{2, 3, 5, 7, 8, 10, 12, 13},
		},
	} {
		if got := pickAll(c.q, c.source, strings.Join(c.lines, "\n")); !equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// A stamp without a zone is the node's, or UTC: both are possible.
func TestNodesZone(t *testing.T) {
	t.Parallel()
	c := fileClock{now0, time.FixedZone("", 8*3600)}
	s, ok := c.read([]byte("I1115 13:30:00.000000 1 x"))
	if !ok || !s.within(now0.Add(-time.Hour), time.Time{}) || !s.within(now0.Add(-9*time.Hour), now0.Add(-8*time.Hour)) || s.within(now0.Add(-4*time.Hour), now0.Add(-2*time.Hour)) {
		t.Errorf("%v %t", s, ok)
	}
}

func BenchmarkPick(b *testing.B) {
	line := []byte(`E1115 13:06:39.973331      36 kuberuntime_manager.go:1665] "Failed to stop sandbox" podSandboxID={"Type":"containerd","ID":"27b6e8ad461a15acff7bb08e578036be9a7e8458229a4b23209a0d564b00e743"} pod="default/nginx-7c5"`)
	m := NewMatcher(Question{Namespace: "late-del", Pod: "etcd1-0", Sandboxes: []string{boxA}})
	m.learn([]byte(boxA))
	p := m.Pick("kubelet", now0, nil)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if p.Wants(line) {
			b.Fatal("wanted")
		}
	}
}
