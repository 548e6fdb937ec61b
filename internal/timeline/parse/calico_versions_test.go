package parse

import (
	"strings"
	"testing"
)

const (
	oldID = "94feeebc95fbcf081f75bdc9bad7a97e74903e847a80b51bf89a6fadafc3ae21"
	newID = "291716a39be97105e9169863bf847e714b3e7aed9a9add7a330e79f8a089b97b"
)

// calicoTold writes what is told of some lines, without time and source.
func calicoTold(t testing.TB, lines ...string) string {
	t.Helper()
	var b strings.Builder
	for _, e := range heardFrom(t, "lines.log", []byte(strings.Join(lines, "\n")+"\n")) {
		_, rest, _ := strings.Cut(calicoRow(&e), e.Source)
		b.WriteString(strings.TrimLeft(rest, " ") + "\n")
	}
	return b.String()
}

func newLine(second, level, pid, origin, message string) string {
	return "2024-03-05 10:00:" + second + ".100 [" + level + "][" + pid + "] " + origin + ": " + message
}

// TestVersions has lines as the source of each version writes them.
func TestVersions(t *testing.T) {
	t.Parallel()
	id, handle := `ContainerID="`+oldID+`"`, `k8s-pod-network.`+oldID
	for name, c := range map[string]struct{ lines, want []string }{
		"3.8 leaves another's endpoint alone": {
			[]string{newLine("01", "WARNING", "77", "k8s.go 456", `CNI_CONTAINERID does not match WorkloadEndpoint ConainerID, don't delete WEP. `+id+` WorkloadEndpoint=&v3.WorkloadEndpoint{ObjectMeta:v1.ObjectMeta{Name:"n1-k8s-db--0-eth0", Namespace:"shop"}, Spec:v3.WorkloadEndpointSpec{Orchestrator:"k8s", Workload:"", Node:"n1", ContainerID:"`+newID+`", Pod:"db-0"}}`)},
			[]string{"DEL begin pod=shop/db-0 sandbox=94feeebc95fb", "endpoint kept pod=shop/db-0 sandbox=94feeebc95fb object=n1-k8s-db--0-eth0 note=it belongs to " + newID},
		},
		"3.20 fails": {
			[]string{
				newLine("01", "INFO", "77", "k8s.go 586", `Cleaning up netns `+id),
				newLine("02", "ERROR", "78", "ipam_plugin.go 431", `Failed to release address `+id+` HandleID="`+handle+`" Workload="n1-k8s-db--0-eth0" error=connection is unauthorized: Unauthorized`),
				newLine("02", "ERROR", "77", "plugin.go 580", `Final result of CNI DEL was an error. error=connection is unauthorized: Unauthorized`),
			},
			[]string{"DEL begin sandbox=94feeebc95fb", "DEL failed sandbox=94feeebc95fb note=connection is unauthorized: Unauthorized"},
		},
		"an ADD that fails takes back its address, which is no DEL": {
			[]string{
				newLine("01", "INFO", "77", "cni-plugin/k8s.go 74", `Extracted identifiers for CmdAddK8s `+id+` Namespace="shop" Pod="db-0" WorkloadEndpoint="my--n1-k8s-db--0-eth0"`),
				newLine("02", "INFO", "78", "ipam/ipam.go 895", `Auto-assigned 1 out of 1 IPv6s: [fd00::5/122] handle="`+handle+`" host="my-n1"`),
				newLine("03", "ERROR", "77", "cni-plugin/k8s.go 528", `Error creating/updating endpoint in datastore. `+id+` Namespace="shop" Pod="db-0" error=context deadline exceeded`),
				newLine("04", "INFO", "77", "cni-plugin/utils.go 722", `Cleaning up IP allocations for failed ADD `+id),
				newLine("05", "INFO", "79", "ipam/ipam_plugin.go 497", `Releasing address using handleID `+id+` HandleID="`+handle+`" Workload="my--n1-k8s-db--0-eth0"`),
				newLine("05", "INFO", "79", "ipam/ipam_plugin.go 516", `Released address using handleID `+id+` HandleID="`+handle+`" Workload="my--n1-k8s-db--0-eth0"`),
				newLine("06", "ERROR", "77", "cni-plugin/plugin.go 163", `Final result of CNI ADD was an error. error=context deadline exceeded`),
			},
			[]string{
				"node named object=my-n1", "ADD begin pod=shop/db-0 sandbox=94feeebc95fb",
				"address assigned pod=shop/db-0 sandbox=94feeebc95fb object=" + handle + " address=fd00::5",
				"ADD failed pod=shop/db-0 sandbox=94feeebc95fb note=context deadline exceeded",
				"release requested pod=shop/db-0 sandbox=94feeebc95fb object=" + handle,
				"address released pod=shop/db-0 sandbox=94feeebc95fb object=" + handle + " address=fd00::5",
			},
		},
		"a try that follows is another": {
			[]string{
				newLine("01", "INFO", "77", "k8s.go 586", `Cleaning up netns `+id), newLine("01", "INFO", "77", "plugin.go 580", `Final result of CNI DEL was an error. error=a`),
				newLine("02", "INFO", "97", "k8s.go 586", `Cleaning up netns `+id), newLine("02", "INFO", "97", "plugin.go 580", `Final result of CNI DEL was an error. error=b`),
			},
			[]string{"DEL begin sandbox=94feeebc95fb", "DEL failed sandbox=94feeebc95fb note=a", "DEL begin sandbox=94feeebc95fb", "DEL failed sandbox=94feeebc95fb note=b"},
		},
		"a try that follows one that never ended is another": {
			[]string{newLine("01", "INFO", "77", "k8s.go 586", `Cleaning up netns `+id), newLine("02", "INFO", "97", "k8s.go 586", `Cleaning up netns `+id)},
			[]string{"DEL begin sandbox=94feeebc95fb", "DEL begin sandbox=94feeebc95fb"},
		},
		"a process number that is used again is nobody's": {
			[]string{newLine("01", "INFO", "77", "k8s.go 586", `Cleaning up netns `+id), strings.Replace(newLine("01", "ERROR", "77", "plugin.go 580", `Final result of CNI DEL was an error. error=a`), "10:00", "11:00", 1)},
			[]string{"DEL begin sandbox=94feeebc95fb", "DEL failed note=a"},
		},
		"the IPAM garbage collector of 3.20": {
			[]string{newLine("01", "INFO", "9", "ipam.go 902", `Garbage collecting leaked IP address handle="`+handle+`" ip="10.0.0.9" node="n1" pod="shop/db-0"`)},
			[]string{"released by the IPAM garbage collector node=n1 pod=shop/db-0 sandbox=94feeebc95fb object=" + handle + " note=Garbage collecting leaked IP address address=10.0.0.9"},
		},
		"an address asked for by annotation": {
			[]string{newLine("01", "INFO", "9", "ipam_plugin.go 220", `Appending an IPv4 address to the result `+id+` HandleID="`+handle+`" Workload="n1-k8s-db--0-eth0" result.IPs=10.0.0.9`)},
			[]string{"address assigned sandbox=94feeebc95fb object=" + handle + " address=10.0.0.9"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, want := calicoTold(t, c.lines...), strings.Join(c.want, "\n")+"\n"; got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}
