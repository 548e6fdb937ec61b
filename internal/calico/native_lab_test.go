//go:build e2e

package calico

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/lab"
)

// nativeCRD has a schema of ours with the names of Calico 3.32: what the schema does not name is
// pruned, as there.
const nativeCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]s.projectcalico.org","annotations":{"api-approved.kubernetes.io":"unapproved, a test"}},
"spec":{"group":"projectcalico.org","scope":"Cluster","names":{"plural":"%[1]s","kind":"%[2]s","listKind":"%[2]sList"},"versions":[{"name":"v3","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":%[3]s}}}}}]}}`

const (
	text, yesNo, number = `{"type":"string"}`, `{"type":"boolean"}`, `{"type":"integer"}`
	nativeBlock         = `{"cidr":` + text + `,"affinity":` + text + `,"affinityClaimTime":{"type":"string","format":"date-time"},"strictAffinity":` + yesNo + `,"deleted":` + yesNo + `,"sequenceNumber":` + number + `,
"allocations":{"type":"array","items":{"type":"integer","nullable":true}},"unallocated":{"type":"array","items":` + number + `},"sequenceNumberForAllocation":{"type":"object","additionalProperties":` + number + `},
"attributes":{"type":"array","items":{"type":"object","properties":{"handle_id":` + text + `,"secondary":{"type":"object","additionalProperties":` + text + `}}}}}`
)

// natives are the resources of Calico 3.32 that we read: kind, fields, and an object.
var natives = map[string][3]string{
	"ipamblocks": {"IPAMBlock", nativeBlock, `{"metadata":{"name":"10-0-0-0-30"},"spec":{"cidr":"10.0.0.0/30","affinity":"host:n1","affinityClaimTime":"2026-11-17T10:00:00Z","allocations":[0,null,null,null],
		"unallocated":[1,2,3],"attributes":[{"handle_id":"k8s-pod-network.abc","secondary":{"node":"n1","pod":"p","namespace":"default"}}],"sequenceNumber":7,"sequenceNumberForAllocation":{"0":6},"strictAffinity":false,"deleted":false}}`},
	"ipamhandles":                   {"IPAMHandle", `{"handleID":` + text + `,"deleted":` + yesNo + `,"block":{"type":"object","additionalProperties":` + number + `}}`, `{"metadata":{"name":"k8s-pod-network.abc"},"spec":{"handleID":"k8s-pod-network.abc","deleted":false,"block":{"10.0.0.0/30":1}}}`},
	"blockaffinities":               {"BlockAffinity", `{"cidr":` + text + `,"node":` + text + `,"state":` + text + `,"type":` + text + `,"deleted":` + yesNo + `}`, `{"metadata":{"name":"n1-10-0-0-0-30"},"spec":{"cidr":"10.0.0.0/30","node":"n1","state":"confirmed","type":"host","deleted":false}}`},
	"ipamconfigurations":            {"IPAMConfiguration", `{"strictAffinity":` + yesNo + `,"maxBlocksPerHost":` + number + `,"autoAllocateBlocks":` + yesNo + `}`, `{"metadata":{"name":"default"},"spec":{"strictAffinity":true,"maxBlocksPerHost":20,"autoAllocateBlocks":true}}`},
	"ippools":                       {"IPPool", `{"cidr":` + text + `,"blockSize":` + number + `,"vxlanMode":` + text + `,"nodeSelector":` + text + `}`, `{"metadata":{"name":"default"},"spec":{"cidr":"10.0.0.0/16","blockSize":30,"vxlanMode":"Always","nodeSelector":"all()"}}`},
	"ipreservations":                {"IPReservation", `{"reservedCIDRs":{"type":"array","items":` + text + `}}`, `{"metadata":{"name":"some"},"spec":{"reservedCIDRs":["10.0.255.0/30"]}}`},
	"clusterinformations":           {"ClusterInformation", `{"calicoVersion":` + text + `,"clusterGUID":` + text + `,"datastoreReady":` + yesNo + `}`, `{"metadata":{"name":"default"},"spec":{"calicoVersion":"v3.32.1","clusterGUID":"g","datastoreReady":true}}`},
	"felixconfigurations":           {"FelixConfiguration", `{"bpfEnabled":` + yesNo + `}`, `{"metadata":{"name":"default"},"spec":{"bpfEnabled":false}}`},
	"kubecontrollersconfigurations": {"KubeControllersConfiguration", `{"controllers":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`, `{"metadata":{"name":"default"},"spec":{"controllers":{"node":{"leakGracePeriod":"7m0s"}}}}`},
}

// TestLabNative: with the names that Calico 3.32 has in its own API group, on a real API server,
// everything is read. What Calico itself writes there, and its migration, are not shown by this.
func TestLabNative(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	ctx := t.Context()
	for plural, n := range natives {
		post(t, l, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", fmt.Sprintf(nativeCRD, plural, n[0], n[1]))
	}
	for plural, n := range natives {
		object := fmt.Sprintf(`{"apiVersion":"projectcalico.org/v3","kind":%q,%s`, n[0], n[2][1:])
		err := lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
			_, err := l.Do(ctx, http.MethodPost, "/apis/projectcalico.org/v3/"+plural+"?fieldValidation=Strict", object)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	client, err := kube.Connect(kube.Options{Kubeconfig: l.Kubeconfig(), Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	// Both groups have IPAM resources, as during a migration: the workloads say which is used.
	if _, err := FindCRDs(ctx, client, func(context.Context) (string, error) { return "", errors.New("rolled out") }); err == nil {
		t.Error("a group is chosen while Calico is being rolled out")
	}
	found, err := FindCRDs(ctx, client, func(context.Context) (string, error) {
		return GroupInUse([]model.Component{{Name: "calico-node", Wanted: 1, Settings: map[string]string{"CALICO_API_GROUP": "projectcalico.org/v3"}}})
	})
	if err != nil || found.Group != groupV3 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, old := range []string{"ipamblocks", "ipamhandles", "blockaffinities"} { // after it
		if _, err := l.Do(ctx, http.MethodDelete, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+old+".crd.projectcalico.org", ""); err != nil {
			t.Fatal(err)
		}
	}
	err = lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		found, err = FindCRDs(ctx, client, func(context.Context) (string, error) { return "", errors.New("asked") })
		return err
	})
	if err != nil || found.Group != groupV3 {
		t.Fatalf("%+v, %v", found, err)
	}
	s := observe.Snapshot(ctx, func(string, int, bool) {}, found.Collectors()...)
	for _, c := range s.Coverage {
		if c.State != model.Complete && c.Table != model.Endpoints && c.Table != model.Hosts {
			t.Errorf("%+v", c)
		}
	}
	if len(s.Blocks) != 1 || len(s.Blocks[0].Held) != 1 || len(s.Blocks[0].Free) != 3 || len(s.Handles) != 1 || len(s.Affinities) != 1 || s.Affinities[0].State != "confirmed" || len(s.Pools) != 1 || len(s.Reservations) != 1 {
		t.Errorf("%+v", s)
	}
	if i := s.Info[0]; i.Calico != "v3.32.1" || i.Group != groupV3 || !i.StrictAffinity || i.MaxBlocks != 20 || !i.Ready {
		t.Errorf("%+v", i)
	}
}

func post(t *testing.T, l *lab.Lab, path, body string) {
	t.Helper()
	if b, err := l.Do(t.Context(), http.MethodPost, path, body); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
}
