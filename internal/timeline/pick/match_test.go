package pick

import (
	"net/netip"
	"strings"
	"testing"
)

const (
	boxA = "340b1c7a1a908463446030e936216ed961208ef19c39137d4265fcf33cd19472"
	boxB = "27b6e8ad461a15acff7bb08e578036be9a7e8458229a4b23209a0d564b00e743"
	uidA = "07cbebe7-7fb6-444c-8a9c-f8ec15528f6c"
)

// The ways in which the components spell a pod's name, as they were recorded (Calico v3.31.0,
// kubelet v1.34, containerd 1.6.20, and those of 2017), and others that only look like it.
func TestPodNames(t *testing.T) {
	t.Parallel()
	p := newPodName("late-del", "etcd1-0")
	for line, want := range map[string]bool{
		`"Killing container" pod="late-del/etcd1-0" podUID="x"`:                                  true,
		`pods=["late-del/etcd1-0","kube-system/x"]`:                                              true,
		`resource does not exist: WorkloadEndpoint(workload=late-del.etcd1-0)`:                   true,
		`Get Key: /calico/ipam/v2/handle/late-del.etcd1-0"`:                                      true,
		`k8s_POD_etcd1-0_late-del_f8d1e7d4-df36-11e7-9d36-5254b24cbf5e_0`:                        true,
		`SyncLoop (ADD, "api"): "etcd1-0_late-del(f8d1e7d4-df36-11e7-9d36-5254b24cbf5e)"`:        true,
		`/var/log/pods/late-del_etcd1-0_f8d1/main/0.log`:                                         true,
		`CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=late-del;K8S_POD_NAME=etcd1-0;K8S_POD_INFRA`: true,
		`ContainerID="1" Namespace="late-del" Pod="etcd1-0" WorkloadEndpoint="n-k8s-x-eth0"`:     true,
		`{"pod":"etcd1-0","uid":"1","namespace":"late-del"}`:                                     true,
		`msg="{\"namespace\":\"late-del\",\"pod\":\"etcd1-0\"}"`:                                 true,
		`&PodSandboxMetadata{Name:etcd1-0,Uid:07cb,Namespace:late-del,Attempt:0,}`:               true,
		`Workload="node1-k8s-etcd1--0-eth0"`:                                                     true,
		`WorkloadEndpoint="node1-k8s-etcd1--0-"`:                                                 true,
		`first\nlate-del/etcd1-0 is gone`:                                                        true,
		`the end is late-del/etcd1-0.`:                                                           true,
		`late-del/etcd1-0`:                                                                       true,

		`pod="late-del/etcd1-01"`:                                      false,
		`pod="late-del/etcd1-0-1"`:                                     false,
		`pod="late-del/etcd1-0.x"`:                                     false,
		`pod="not-late-del/etcd1-0"`:                                   false,
		`pod="xlate-del/etcd1-0"`:                                      false,
		`pod="other/etcd1-0"`:                                          false,
		`Namespace="other" Pod="etcd1-0" ServiceAccount="late-del"`:    false,
		`Namespace="late-del" Pod="web-0" containerName="etcd1-0"`:     false,
		`Namespace="late-delta" Pod="etcd1-0"`:                         false,
		`etcd1-0_late-del2`:                                            false,
		`K8S_POD_NAMESPACE=other;K8S_POD_NAME=etcd1-0;x=late-del`:      false,
		`Workload="node1-k8s-etcd1--0--1-eth0"`:                        false,
		`Workload="node1-k8s-etcd1--01-eth0"`:                          false,
		`Namespace="other" WorkloadEndpoint="node1-k8s-etcd1--0-eth0"`: false,
		`etcd1-0 late-del`:                                             false,
		``:                                                             false,
		`etcd1-0`:                                                      false,
		`late-del/`:                                                    false,
	} {
		if got := p.in([]byte(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
	if newPodName("", "").in([]byte("/ x")) {
		t.Error("nobody was asked for")
	}
}

func TestWholeAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ip, line string
		want     bool
	}{
		{"10.0.0.3", "10.0.0.3", true},
		{"10.0.0.3", "IPv4=[10.0.0.3/26] IPv6=[]", true},
		{"10.0.0.3", `Get "http://10.0.0.3:8080/": refused`, true},
		{"10.0.0.3", "it is 10.0.0.3.", true},
		{"10.0.0.3", "it was 10.0.0.33, then 10.0.0.3", true},
		{"10.0.0.3", `a\n10.0.0.3`, true},
		{"10.0.0.3", "10.0.0.33", false},
		{"10.0.0.3", "110.0.0.3", false},
		{"10.0.0.3", "1.10.0.0.3", false},
		{"10.0.0.3", "10.0.0.3.4", false},
		{"10.0.0.3", "v10.0.0.3b", false},
		{"fd00::1", "IPv6=[fd00::1/122]", true},
		{"fd00::1", "addr:fd00::1: down", true},
		{"fd00::1", "[fd00::1]:80", true},
		{"fd00::1", "fd00::12", false},
		{"fd00::1", "fd00::1:2", false},
		{"fd00::1", "afd00::1", false},
		{"fd00::1", "1:fd00::1", false},
	} {
		ip := netip.MustParseAddr(c.ip)
		if got := hasAddress([]byte(c.line), []byte(c.ip), ip.Is6()); got != c.want {
			t.Errorf("%s in %q: %t", c.ip, c.line, got)
		}
	}
}

// What a line about the pod tells of containers is looked for in the lines after it; what
// only looks like an ID, and what lines that were not asked for tell, is not.
func TestLearns(t *testing.T) {
	t.Parallel()
	m := NewMatcher(Question{Namespace: "ns", Pod: "p", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.3")}})
	other := strings.Repeat("ab", 32)
	for _, c := range []struct {
		line string
		want reason
	}{
		{"CleanUp " + boxA, byNothing},
		{"10.0.0.3 is of " + other, byAsked}, // may be another pod's by now
		{"of " + other, byNothing},
		{`pod="ns/p" containerID="containerd://` + boxA + `" image="sha256:` + boxB + `" podUID="` + uidA + `"`, byAsked},
		{"CleanUp " + boxA, byLearned},
		{"short " + boxA[:13] + " is enough", byLearned},
		{"shorter " + boxA[:11], byNothing},
		{"another " + boxA[:12] + "0", byNothing},
		{"pulled " + boxB, byNothing},
		{`failed to "KillPodSandbox" for "` + uidA + `"`, byLearned},
		{"/kubepods/pod" + strings.ReplaceAll(uidA, "-", "_"), byLearned},
		{"another's " + strings.Replace(uidA, "0", "1", 1), byNothing},
		{boxA + " with " + other, byLearned}, // what was learned teaches nothing
		{"of " + other, byNothing},
	} {
		if got := m.match([]byte(c.line)); got != c.want {
			t.Errorf("%s: %d, want %d", c.line, got, c.want)
		}
	}
	if got := m.Learned(); len(got) != 2 || got[0] != boxA || got[1] != uidA {
		t.Errorf("learned %q", got)
	}
	again := m.Again()
	if again.match([]byte("CleanUp "+boxA)) != byLearned || again.match([]byte("ns/p "+other)) != byAsked || len(again.Learned()) != 2 {
		t.Error("the second time")
	}
	old := NewMatcher(Question{Namespace: "ns", Pod: "p"})
	if old.match([]byte("SyncLoop (ADD): p_ns(" + uidA + "), q_ns(f8d1e7d4-df36-11e7-9d36-5254b24cbf5e)")); len(old.Learned()) != 1 {
		t.Errorf("of 2017: %q", old.Learned())
	}
}

// A flood of IDs is not learned.
func TestLearnsInBounds(t *testing.T) {
	t.Parallel()
	m := NewMatcher(Question{Sandboxes: []string{boxA[:12]}})
	for i := range 1000 {
		m.match([]byte(boxA + " " + strings.Repeat(string("0123456789abcdef"[i%16])+string("0123456789abcdef"[i/16%16])+string("0123456789abcdef"[i/256])+"f", 16)))
	}
	if n := len(m.Learned()); n != maxLearned || !m.Full() {
		t.Errorf("%d", n)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add(`2026-11-15 13:06:34.037 [INFO][278] x Namespace="ns" Pod="p-0" `+boxA, "ns", "p-0")
	f.Add(`n-k8s-p--0-`, "ns", "p-0")
	f.Add("I1115 13:06:26.158011 1 x] ns/p 10.0.0.3 "+uidA, "ns", "p")
	f.Add("Dec  2 20:21:27 h kubelet[1]: p_ns(", "ns", "p")
	f.Add(`00000000 {"at":"2026-11-15T13:06:34+08:00"`, "n", "p")
	f.Fuzz(func(t *testing.T, text, ns, pod string) {
		m := NewMatcher(Question{Namespace: ns, Pod: pod, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.3"), netip.MustParseAddr("fd00::1")}, Sandboxes: []string{boxA}, UIDs: []string{uidA}})
		p := m.Pick("kubelet", now0, nil)
		for line := range strings.Lines(text) {
			wanted := p.Wants([]byte(line))
			if before, _, has := strings.Cut(line, boxA); has && m.match([]byte(line)) != byAsked && !strings.ContainsAny(before, "0123456789abcdef") {
				t.Errorf("%q has the ID: %t", line, wanted)
			}
		}
		for start, end := range hexRuns([]byte(text)) {
			if end-start < shortestID || strings.Trim(text[start:end], "0123456789abcdef") != "" {
				t.Errorf("%q is no run", text[start:end])
			}
		}
	})
}
