package change

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

func sceneOf(body string) Scene {
	ref := model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/29"}
	live := model.Object{Ref: ref}
	if body != "" {
		live.UID, live.Revision, live.Body = "u", "1", json.RawMessage(body)
	}
	claim := model.Ref{Kind: model.KindAffinity, Name: "n1/10.0.0.0/29"}
	also := map[model.Ref]model.Object{claim: {Ref: claim, UID: "u", Revision: "1"}}
	return Scene{Live: live, Also: also, On: ref, For: []string{"f"}, Keep: func(string) bool { return true }, Now: 1}
}

// An ordinal that is neither allocated nor free may be in use on a node that nobody could ask: it
// is held and never offered.
func TestUnlistedOrdinalIsHeld(t *testing.T) {
	t.Parallel()
	e, err := (&Mend{}).Edit(sceneOf(`{"cidr":"10.0.0.0/29","affinity":"host:n1","allocations":[0,1,2,3,null,null,null,null],"unallocated":[5,6,7],"attributes":[{"handle_id":"a"},{"handle_id":"b"},{"handle_id":"c"},{"handle_id":"d"}],"sequenceNumber":9,"sequenceNumberForAllocation":{},"deleted":false}`))
	if err != nil {
		t.Fatal(err)
	}
	body := string(e.Object.Body)
	if !strings.Contains(body, `"unallocated":[5,6,7]`) || !strings.Contains(body, `"allocations":[0,1,2,3,4,null,null,null]`) || !strings.Contains(body, `"plumbline-unknown.10-0-0-0-29"`) {
		t.Error(body)
	}
}

// What a new block offers must be verified on all nodes, or is held.
func TestNewBlockOffersNothingUnverified(t *testing.T) {
	t.Parallel()
	e, err := (&NewBlock{Node: "n1"}).Edit(sceneOf(""))
	if err != nil || len(e.Takes) != 8 {
		t.Fatalf("%v, %+v", err, e.Takes)
	}
	for _, take := range e.Takes {
		if !take.Free || take.Container() != "" || take.For != "f" {
			t.Errorf("%+v", take)
		}
	}
	e, err = (&NewBlock{Node: "n1", Hold: true}).Edit(sceneOf(""))
	if err != nil || len(e.Takes) != 0 || !strings.Contains(string(e.Object.Body), `"unallocated":[]`) || !strings.Contains(string(e.Object.Body), `"allocations":[0,0,0,0,0,0,0,0]`) {
		t.Errorf("%v, %+v, %s", err, e.Takes, e.Object.Body)
	}
}

// Two ordinals point at the same attribute, which does not exist: neither gets the other's owner.
func TestInvalidAttributesAreNamedOneByOne(t *testing.T) {
	t.Parallel()
	const body = `{"cidr":"10.0.0.0/29","affinity":"host:n1","allocations":[1,0,1,null,null,null,null,null],"unallocated":[3,4,5,6,7],"attributes":[{"handle_id":"a"}],"sequenceNumber":9,"sequenceNumberForAllocation":{},"deleted":false}`
	sc := sceneOf(body)
	ref := model.Ref{Kind: model.KindHandle, Name: "k8s-pod-network.cc"}
	sc.Also[ref] = model.Object{Ref: ref, UID: "u", Revision: "1", Body: json.RawMessage(`{"block":{"10.0.0.0/29":4}}`)}
	to := &Owner{Handle: ref.Name, Secondary: map[string]string{"node": "n1", "pod": "c", "namespace": "x"}}
	e, err := (&Mend{Owners: []Ordinal{{For: "f", IP: addr("10.0.0.0"), To: to}}}).Edit(sc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBlock(e.Object)
	if err != nil || b.holder(0).Handle.V != ref.Name || b.holder(1).Handle.V != "a" || b.holder(2).Handle.V != UnknownHandle(b.cidr) {
		t.Errorf("%v: %s", err, e.Object.Body)
	}
	// Without the mend nothing is recorded: the new attribute would get the missing one's index.
	if _, err := (Ordinals{{For: "f", IP: addr("10.0.0.3"), To: to}}).Edit(sc); !errors.Is(err, ErrMoved) {
		t.Errorf("recorded in a block that is inconsistent: %v", err)
	}
}
