package records

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// seed reads one of the write-ups of 2017 to 2019, as its author pasted the lines.
func seed(t *testing.T, name string) (timeline.File, map[uint32]copied) {
	t.Helper()
	text, err := os.ReadFile("testdata/seeds/" + name)
	if err != nil {
		t.Fatal(err)
	}
	in := file(name, string(text))
	in.ModTime = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	files, got := records(t, chunkSize, Options{}, in)
	byLine := map[uint32]copied{}
	for _, r := range got[0] {
		byLine[r.Place.Line] = r
	}
	return files[0], byLine
}

const (
	oldSandbox = "41857f70ed13326dbc2c04e7d8e7c56c28f83df67e82e76d2fb4d74b7ab24659"
	lateDel    = "Configured environment: [LANG=en_US.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin CNI_COMMAND=DEL CNI_CONTAINERID=" + oldSandbox +
		" CNI_NETNS= CNI_ARGS=IgnoreUnknown=1;IgnoreUnknown=1;K8S_POD_NAMESPACE=lijiaob;K8S_POD_NAME=stateful-new-pod-0;K8S_POD_INFRA_CONTAINER_ID=" + oldSandbox +
		" CNI_IFNAME=eth0 CNI_PATH=/opt/calico/bin:/opt/cni/bin ETCD_ENDPOINTS=https://10.39.0.105:2379 ETCD_KEY_FILE=/etc/cni/net.d/calico-tls/etcd-key" +
		" ETCD_CERT_FILE=/etc/cni/net.d/calico-tls/etcd-cert ETCD_CA_CERT_FILE=/etc/cni/net.d/calico-tls/etcd-ca KUBECONFIG=/etc/cni/net.d/calico-kubeconfig K8S_API_TOKEN="
)

func TestSeedOfTheLateDel(t *testing.T) {
	t.Parallel()
	f, got := seed(t, "000.txt")
	if f.Lines != 480 || !slices.Equal(f.Guessed, []string{
		"timestamps without a year: 2017, from timestamps inside its lines", "timestamps without a zone: +08:00, from timestamps inside its lines",
	}) || len(f.Left) != 0 {
		t.Errorf("%+v", f)
	}
	r := got[364] // its words are broken in two, and what follows is set no deeper
	if text, token, _ := strings.Cut(r.Text, "eyJ"); text != lateDel || !strings.HasSuffix(token, "]") || strings.ContainsAny(token, " \t") {
		t.Errorf("364: %q", r.Text)
	}
	if !r.At.Equal(at("2017-12-13T10:28:09+08:00")) || r.Node != "dev-slave-107" || r.Program != "kubelet" || r.Fields != "" {
		t.Errorf("364: %+v", r)
	}
	for line, want := range map[uint32]string{
		75:  "CNI_PATH=/opt/calico/bin:/opt/cni/bin ETCD_AUTHORITY=kubernetes.default.svc.cluster.local:2379 ETCD_SCHEME=https",
		112: "ETCD_AUTHORITY=kubernetes.default.svc.cluster.local:2379",
		134: `network namespace for the terminated container"9fb800b7773e8413e1c0fc65ff957b615afa932cb1c7220491417d69dbcc0319"`,
		143: "KUBECONFIG=/etc/kubernetes/kubelet.conf]",
		163: "Error deleting network: resource does not exist: WorkloadEndpoint(node=slave-197, orchestrator=k8s, workload=lijiaob.etcd1-0, name=eth0)",
		302: `with KillPodSandboxError: "rpc error: code = 2 desc = NetworkPlugin cni failed to teardown pod \"stateful-new-pod-0_lijiaob\" network`,
		343: "DNS:{Nameservers:[] Domain: Search:[] Options:[]}",
		406: "remove /var/lib/docker/containers/593d8a89ee37580673159eb34937654338786d1de8ea6e09cf794f5a4c9f410c/shm: device or resource busy",
	} {
		if !strings.Contains(got[line].Text, want) {
			t.Errorf("%d: %q", line, got[line].Text)
		}
	}
	if fields := got[98].Fields; !strings.HasSuffix(fields, "calico/k8s_ns:lijiaob]} {[192.168.252.66/32] [] <nil> <nil> [k8s_ns.lijiaob] cali9118ebbb10b 7e:b0:97:cb:d0:81}}") {
		t.Errorf("98: %q", fields)
	}
	if fields := got[343].Fields; fields != "Workload=lijiaob.stateful-new-pod-0" {
		t.Errorf("343: %q", fields)
	}
	for line, want := range map[uint32]string{168: "ERROR", 315: "...", 330: "...", 322: "Calico CNI checking for existing endpoint: <nil>", 137: "Calico CNI releasing IP address", 228: "^C"} {
		if got[line].Text != want {
			t.Errorf("%d: %q", line, got[line].Text)
		}
	}
	if !got[412].At.Equal(at("2017-07-14T15:22:06+08:00")) || !got[296].At.Equal(at("2017-12-13T10:27:42.891750+08:00")) || !got[464].At.Equal(at("2017-12-13T14:19:24.223+08:00")) {
		t.Error(got[412].At, got[296].At, got[464].At)
	}
}

func TestSeedOfTheUpgrade(t *testing.T) {
	t.Parallel()
	f, got := seed(t, "001.txt")
	if !slices.Equal(f.Guessed, []string{"timestamps without a year: 2017, from timestamps inside its lines", "timestamps without a zone: +08:00, from timestamps inside its lines"}) {
		t.Error(f.Guessed)
	}
	first := got[49]
	if first.Text != `Determined the ip "192.168.247.220" for pod "XXXXX-0_XXXXX-system(1d402e65-d898-11e7-b1cd-5254171bf8db)" after sandbox changed` ||
		first.Origin != "kuberuntime_manager.go" || !first.At.Equal(at("2017-12-04T10:09:10.421593+08:00")) {
		t.Errorf("49: %+v", first)
	}
	for line, want := range map[uint32][]string{
		52: {`Ignoring same status for pod "XXXXX-0_XXXXX-system(1d402e65-d898-11e7-b1cd-5254171bf8db)", status: {Phase:Running Conditions:[{Type:Initialized`, "PodIP:192.168.247.220 ", "ContainerID:docker://6a661302e2726a1c4aaaccb1ac96b31b0805f76e2fe6494dee023cef9bfde603}] QOSClass:Burstable}"},
		66: {"system(4f663934-d898-11e7-b1cd-5254171bf8db)", "PodIP:192.168.247.231 ", "ContainerID:docker://f8189c4b982a4e740210e9a0c1c8a730cd5d64ccf2b1f53ce092823bc7f46739}] QOSClass:Burstable}"},
		97: {`Missing default interface "eth0" for pod:XXXXX-system_XXXXX-0`},
	} {
		for _, w := range want {
			if !strings.Contains(got[line].Text, w) {
				t.Errorf("%d lacks %q: %q", line, w, got[line].Text)
			}
		}
	}
	if _, own := got[53]; own {
		t.Error("53 was not joined to 52")
	}
}

func TestSeedOfTheStuckPods(t *testing.T) {
	t.Parallel()
	f, got := seed(t, "004.txt")
	if len(f.Guessed) != 2 || !strings.Contains(f.Guessed[0], "2019") {
		t.Error(f.Guessed)
	}
	if r := got[62]; r.Program != "dockerd" || !strings.HasPrefix(r.Text, "Error running exec in container: rpc error") || !strings.Contains(r.Text, `namespace path \"/proc/30849/ns/ipc\"`) {
		t.Errorf("62: %+v", r)
	}
	if r := got[55]; !strings.HasSuffix(strings.TrimSpace(r.Text), "exited with 126:") || r.At.IsZero() {
		t.Errorf("55: %+v", r)
	}
	if r := got[37]; !strings.HasPrefix(r.Text, "Normal   Killing") || r.Style != Plain {
		t.Errorf("37: %+v", r)
	}
}
