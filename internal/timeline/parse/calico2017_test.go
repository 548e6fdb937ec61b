package parse

import (
	"strings"
	"testing"
)

func oldLine(second, message, fields string) string {
	return `Dec 12 20:22:` + second + ` slave-197 kubelet[11608]: time="2017-12-12T20:22:` + second + `+08:00" level=info msg="` + message + `"` + fields
}

func environmentLine(second, command, id, netns string) string {
	return oldLine(second, `Configured environment: [LANG=C CNI_COMMAND=`+command+` CNI_CONTAINERID=`+id+` CNI_NETNS=`+netns+` CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=db-0;K8S_POD_INFRA_CONTAINER_ID=`+id+` CNI_IFNAME=eth0]`, "")
}

const (
	endpointKey = "/calico/v1/host/slave-197/workload/k8s/shop.db-0/endpoint"
	del94       = "DEL begin node=slave-197 pod=shop/db-0 sandbox=94feeebc95fb"
)

// TestStream checks which calls can be distinguished in the kubelet's log of 2017.
func TestStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lines, want []string }{
		"a loop of failures is counted, each with its two environments": {
			[]string{
				environmentLine("01", "DEL", oldID, ""), environmentLine("01", "DEL", oldID, ""), oldLine("01", "Delete Key: "+endpointKey+"/eth0", ""),
				environmentLine("03", "DEL", oldID, ""), environmentLine("03", "DEL", oldID, ""), oldLine("03", "Delete Key: "+endpointKey+"/eth0", ""),
			},
			[]string{del94, "node named node=slave-197 object=slave-197", del94},
		},
		"that a deletion was asked for does not show that it was done": {
			[]string{environmentLine("01", "DEL", oldID, ""), oldLine("01", "Delete Key: "+endpointKey+"/eth0", "")},
			[]string{del94, "node named node=slave-197 object=slave-197"},
		},
		"an ADD and a DEL of one name at once": {
			[]string{
				environmentLine("01", "ADD", newID, "/proc/1/ns/net"), environmentLine("01", "DEL", oldID, "/proc/2/ns/net"),
				oldLine("01", "Auto-assigned 1 out of 1 IPv4s: [10.0.0.7]", ""),
				oldLine("01", "Get Key: /calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26", ""),
				oldLine("02", "Delete empty Key: "+endpointKey, ""),
				oldLine("02", "Wrote updated endpoint to datastore", " Workload=shop.db-0"),
			},
			[]string{
				"ADD begin node=slave-197 pod=shop/db-0 sandbox=291716a39be9", del94,
				"address assigned node=slave-197 pod=shop/db-0 sandbox=291716a39be9 address=10.0.0.7",
				"block read node=slave-197 object=10.0.0.0-26",
				"endpoint deleted node=slave-197 pod=shop/db-0 sandbox=94feeebc95fb object=" + endpointKey,
				"DEL node=slave-197 pod=shop/db-0 sandbox=94feeebc95fb note=its endpoint was deleted; what was done in its network namespace is not logged",
				"endpoint written node=slave-197 pod=shop/db-0 sandbox=291716a39be9 object=shop.db-0 address=10.0.0.7",
				"ADD node=slave-197 pod=shop/db-0 sandbox=291716a39be9 address=10.0.0.7",
			},
		},
		"two DELs of one name at once": {
			[]string{environmentLine("01", "DEL", oldID, ""), environmentLine("01", "DEL", newID, ""), oldLine("01", "Delete empty Key: "+endpointKey, "")},
			[]string{
				del94, "DEL begin node=slave-197 pod=shop/db-0 sandbox=291716a39be9",
				"endpoint deleted node=slave-197 pod=shop/db-0 object=" + endpointKey,
			},
		},
		"another pod's line": {
			[]string{environmentLine("01", "DEL", oldID, ""), oldLine("01", "Releasing address using workloadID", " Workload=shop.cart-1")},
			[]string{del94, "release requested node=slave-197 pod=shop/cart-1 object=shop.cart-1"},
		},
		"an ADD that fails takes back its address, which is no DEL": {
			[]string{
				environmentLine("01", "ADD", newID, "/proc/1/ns/net"),
				oldLine("02", "Cleaning up IP allocations for failed ADD", " Workload=shop.db-0"),
				environmentLine("02", "DEL", newID, "/proc/1/ns/net"),
				oldLine("02", "Releasing address using workloadID", " Workload=shop.db-0"),
			},
			[]string{
				"ADD begin node=slave-197 pod=shop/db-0 sandbox=291716a39be9",
				"ADD failed node=slave-197 pod=shop/db-0 sandbox=291716a39be9 note=Cleaning up IP allocations for failed ADD",
				"release requested node=slave-197 pod=shop/db-0 sandbox=291716a39be9 object=shop.db-0",
			},
		},
		"a name that can be none": {
			[]string{strings.ReplaceAll(environmentLine("01", "DEL", oldID, ""), "db-0", "<b>")},
			[]string{"DEL begin node=slave-197 sandbox=94feeebc95fb"},
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
