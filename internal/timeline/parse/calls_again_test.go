package parse

import (
	"slices"
	"strings"
	"testing"
)

const (
	add29   = "ADD begin node=slave-197 pod=shop/db-0 sandbox=291716a39be9"
	called  = "node named node=slave-197 object=slave-197"
	deleted = "endpoint deleted node=slave-197 pod=shop/db-0"
	result  = ` Workload=shop.db-0 result.IP4=&\{10.0.0.7 ffffffff} <nil> []} result.IP6=<nil>`
)

// TestTriedAgain has calls of one sandbox soon after each other, and of two.
func TestTriedAgain(t *testing.T) {
	t.Parallel()
	failed := []string{environmentLine("01", "DEL", oldID, ""), oldLine("01", "Delete Key: "+endpointKey+"/eth0", "")}
	for name, c := range map[string]struct {
		second string // whose DEL follows
		want   []string
	}{
		"the same one's": {oldID, []string{
			del94, called, del94,
			"release requested node=slave-197 pod=shop/db-0 sandbox=94feeebc95fb object=shop.db-0",
			deleted + " sandbox=94feeebc95fb object=" + endpointKey, "DEL node=slave-197 pod=shop/db-0 sandbox=94feeebc95fb",
		}},
		"another's": {newID, []string{
			del94, called, "DEL begin node=slave-197 pod=shop/db-0 sandbox=291716a39be9",
			"release requested node=slave-197 pod=shop/db-0 object=shop.db-0",
			deleted + " object=" + endpointKey,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := slices.Concat(failed[:2], []string{
				environmentLine("05", "DEL", c.second, ""), oldLine("05", "Releasing address using workloadID", " Workload=shop.db-0"),
				oldLine("05", "Delete empty Key: "+endpointKey, ""),
			})
			if got, want := calicoTold(t, lines...), strings.Join(c.want, "\n")+"\n"; got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

// TestAddressOfWhom has an ADD beside another pod's: IPAM's own lines name neither pod nor sandbox.
func TestAddressOfWhom(t *testing.T) {
	t.Parallel()
	both := []string{environmentLine("01", "ADD", newID, ""), strings.ReplaceAll(environmentLine("01", "ADD", oldID, ""), "db-0", "cart-1")}
	const (
		cart  = "ADD begin node=slave-197 pod=shop/cart-1 sandbox=94feeebc95fb"
		wrote = "endpoint written node=slave-197 pod=shop/db-0 sandbox=291716a39be9 object=shop.db-0"
		ended = "ADD node=slave-197 pod=shop/db-0 sandbox=291716a39be9"
	)
	written := oldLine("01", "Wrote updated endpoint to datastore", " Workload=shop.db-0")
	for name, c := range map[string]struct{ line, want []string }{
		"by IPAM's result": {
			[]string{oldLine("01", "IPAM Result", result)},
			[]string{"address assigned node=slave-197 pod=shop/db-0 sandbox=291716a39be9 object=shop.db-0 address=10.0.0.7", wrote + " address=10.0.0.7", ended + " address=10.0.0.7"},
		},
		"by both addresses, quoted": {
			[]string{oldLine("01", "IPAM Result", ` Workload=shop.db-0 result.IP4="&{{10.0.0.7 ffffffff} <nil> []}" result.IP6="&{{fd00::7 ffff} <nil> []}"`)},
			[]string{
				"address assigned node=slave-197 pod=shop/db-0 sandbox=291716a39be9 object=shop.db-0 address=10.0.0.7",
				"address assigned node=slave-197 pod=shop/db-0 sandbox=291716a39be9 object=shop.db-0 address=fd00::7",
				wrote + " address=10.0.0.7", ended + " address=10.0.0.7",
			},
		},
		"by the endpoint": {
			[]string{oldLine("01", "Populated endpoint", ` Workload=shop.db-0 endpoint=&\{workloadEndpoint v1} \{} eth0 shop.db-0 k8s slave-197 map[]} {[10.0.0.7/32] [] <nil> <nil> [k8s_ns.shop]  <nil>}}`)},
			[]string{wrote + " address=10.0.0.7", ended + " address=10.0.0.7"},
		},
		"the other's": {
			[]string{oldLine("01", "IPAM Result", strings.ReplaceAll(result, "db-0", "cart-1"))},
			[]string{"address assigned node=slave-197 pod=shop/cart-1 sandbox=94feeebc95fb object=shop.cart-1 address=10.0.0.7", wrote, ended},
		},
		"nobody's": {
			[]string{oldLine("01", "Auto-assigned 1 out of 1 IPv4s: [10.0.0.7]", ""), oldLine("01", "IPAM Result", " Workload=shop.db-0 result.IP4=<nil> result.IP6=<nil>")},
			[]string{"address assigned node=slave-197 address=10.0.0.7", wrote, ended},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := calicoTold(t, append(append(both[:2:2], c.line...), written)...), strings.Join(append([]string{add29, cart}, c.want...), "\n")+"\n"
			if got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}
