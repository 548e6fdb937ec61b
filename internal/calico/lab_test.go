//go:build e2e

package calico

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

// kinds names, by resource and by key, what our types are for.
var (
	resources = map[string]string{
		"ipamblocks": "block", "ipamhandles": "handle", "blockaffinities": "affinity", "ippools": "pool",
		"clusterinformations": "cluster", "ipamconfigs": "config", "ipreservations": "reservation",
	}
	keys = map[string]string{
		keyBlocks4: "block", keyBlocks6: "block", keyHandles: "handle", keyHosts: "affinity", keyIPAMConfig: "config",
		keyPools: "pool", keyReservations: "reservation", keyEndpoints: "endpoint", keyCluster: "cluster",
	}
)

const reservation = "apiVersion: projectcalico.org/v3\nkind: IPReservation\nmetadata: {name: some}\nspec: {reservedCIDRs: [10.244.255.0/30]}\n"

// TestLabWhatCalicoWrote decodes every object that the real Calico has written, in both
// modes and both families, and encodes it again.
func TestLabWhatCalicoWrote(t *testing.T) {
	for _, mode := range []lab.Datastore{lab.KDD, lab.Etcd} {
		t.Run(string(mode), func(t *testing.T) {
			l := lab.Start(t, lab.Config{Nodes: 2, Datastore: mode, DualStack: true})
			ctx := t.Context()
			if _, err := l.Kubectl(ctx, "create", "deployment", "web", "--image=plumbline.dev/lab/workload:1", "--replicas=6", "--", "/workload", "serve"); err != nil {
				t.Fatal(err)
			}
			if err := l.CalicoctlApply(ctx, reservation); err != nil {
				t.Fatal(err)
			}
			for _, strict := range []string{"true", "false"} { // Calico 3.23 writes only what changes
				if _, err := l.Calicoctl(ctx, "ipam", "configure", "--strictaffinity="+strict); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.Kubectl(ctx, "rollout", "status", "deployment/web", "--timeout=90s"); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Kubectl(ctx, "scale", "deployment/web", "--replicas=3"); err != nil { // what a DEL leaves
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			seen := map[string]int{}
			if mode == lab.KDD {
				crds(t, l, seen)
			} else {
				etcdValues(t, l, seen)
			}
			t.Log(seen)
			for _, kind := range []string{"block", "handle", "affinity", "pool", "cluster", "config", "reservation"} {
				if seen[kind] == 0 {
					t.Errorf("no %s was seen", kind)
				}
			}
			if seen["block"] < 4 || seen["handle"] < 6 || (mode == lab.Etcd && seen["endpoint"] < 3) {
				t.Errorf("too little was seen: %v", seen)
			}
		})
	}
}

func crds(t *testing.T, l *lab.Lab, seen map[string]int) {
	for resource, kind := range resources {
		var list struct {
			Items []struct{ Spec json.RawMessage }
		}
		if err := l.Get(t.Context(), "/apis/"+groupV1+"/"+resource, &list); err != nil {
			t.Fatal(err)
		}
		for _, i := range list.Items {
			seen[kind]++
			sameAgain(t, kind, i.Spec)
		}
	}
}

func etcdValues(t *testing.T, l *lab.Lab, seen map[string]int) {
	for prefix, kind := range keys {
		out, err := l.Etcdctl(t.Context(), "read-only", "get", "--prefix", prefix)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			key, value := lines[i], []byte(lines[i+1])
			if strings.HasPrefix(key, keyResources) {
				var o struct{ Spec json.RawMessage }
				if err := json.Unmarshal(value, &o); err != nil {
					t.Fatalf("%s: %v", key, err)
				}
				value = o.Spec
			}
			if kind == "affinity" && !strings.Contains(key, "/block/") {
				continue
			}
			seen[kind]++
			sameAgain(t, kind, value)
		}
	}
}
