//go:build e2e

package calico

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/execute/executetest"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
)

var (
	operations = flag.Int("operations", 1500, "how many random operations the stores are compared with")
	seed       = flag.Uint64("seed", 1, "of the random operations")
)

// TestLabStoresAgree: the stores of the simulation answer as the real ones do. Each is used
// by two hands, so that what one remembers the other has overtaken.
func TestLabStoresAgree(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.KDD})
	etcd := EtcdOptions{Endpoints: []string{l.KubernetesEtcd()}}
	memory := func(etcd bool) [2]execute.Store {
		s := executetest.NewStore(etcd, new(uint64), func() model.Time { return 0 })
		return [2]execute.Store{s, s}
	}
	r := rounds{
		names:   []string{"API server", "etcd", "simulated API server", "simulated etcd"},
		writers: [][2]execute.Store{{crdStore(t, l), crdStore(t, l)}, {etcdStore(t, etcd), etcdStore(t, etcd)}, memory(false), memory(true)},
		rand:    rand.New(rand.NewPCG(*seed, 0)),
		past:    map[model.Ref][][]model.Object{},
		live:    map[model.Ref]bool{},
		count:   map[string]int{},
	}
	start := time.Now()
	for n := range *operations {
		if err := r.one(t.Context(), n); err != nil {
			t.Fatalf("seed %d, operation %d: %v", *seed, n, err)
		}
	}
	t.Logf("%d operations in %s: %v", *operations, time.Since(start).Round(time.Second), r.count)
	for _, class := range []string{"get ok", "get absent", "put ok", "put stale", "create ok", "create stale", "delete ok", "delete stale"} {
		if r.count[class] < *operations/100 {
			t.Errorf("%q came %d times: too rare to say anything", class, r.count[class])
		}
	}
}

// keysAgreed are few, so that operations meet.
var keysAgreed = []model.Ref{aBlock, {Kind: model.KindBlock, Name: "fd00::40/126"}, aHandle, anAffine, {Kind: model.KindAffinity, Name: "w2/fd00::40/126"}}

// rounds do one thing after the other to every store.
type rounds struct {
	names   []string
	writers [][2]execute.Store
	rand    *rand.Rand
	past    map[model.Ref][][]model.Object // by object and version, as each store answered
	live    map[model.Ref]bool
	count   map[string]int
}

func (r *rounds) one(ctx context.Context, n int) error {
	ref := keysAgreed[r.rand.IntN(len(keysAgreed))]
	what := []string{"get", "put", "put", "put", "create", "delete"}[r.rand.IntN(6)]
	hand, rev, uid := r.rand.IntN(2), r.pick(ref), r.pick(ref)
	if r.rand.IntN(3) > 0 {
		uid = rev
	}
	var first string
	answers := make([]model.Object, len(r.writers))
	for i := range r.writers {
		s := r.writers[i][hand]
		o := model.Object{Ref: ref, Body: version(ref, n)}
		if what != "create" {
			o.Revision, o.UID = r.of(ref, rev, i).Revision, r.of(ref, uid, i).UID
		}
		var err error
		switch what {
		case "get":
			answers[i], err = s.Get(ctx, ref)
		case "delete":
			err = s.Delete(ctx, o)
		default:
			answers[i], err = s.Put(ctx, o)
		}
		class := what + " " + classOf(what, answers[i], err)
		if err != nil && !errors.Is(err, execute.ErrStale) {
			return fmt.Errorf("%s %s: %s: %w", what, ref, r.names[i], err)
		}
		if i == 0 {
			first = class
			r.count[class]++
		}
		if class != first {
			return fmt.Errorf("%s %s, version %d with the UID of %d, of %d: %s said %q and %s %q", what, ref, rev, uid, len(r.past[ref]), r.names[0], first, r.names[i], class)
		}
	}
	return r.note(ref, first, answers)
}

// pick chooses a version: mostly the newest, else an older one or none that ever was.
func (r *rounds) pick(ref model.Ref) int {
	all := len(r.past[ref])
	switch k := r.rand.IntN(10); {
	case k == 0 || all == 0:
		return -1 - r.rand.IntN(len(neverWere))
	case k < 4:
		return r.rand.IntN(all)
	default:
		return all - 1
	}
}

var neverWere = []string{"0", "1", "-7", "9223372036854775807", "99999999999999999999", "x", "00000000-0000-0000-0000-000000000000"}

func (r *rounds) of(ref model.Ref, v, store int) model.Object {
	if v < 0 {
		return model.Object{UID: neverWere[-1-v], Revision: neverWere[-1-v]}
	}
	return r.past[ref][v][store]
}

func classOf(what string, o model.Object, err error) string {
	switch {
	case err != nil:
		return "stale"
	case what == "get" && !o.There():
		return "absent"
	default:
		return "ok"
	}
}

// note keeps what was answered. What is read is what was written last.
func (r *rounds) note(ref model.Ref, class string, answers []model.Object) error {
	switch class {
	case "create ok", "put ok":
		r.past[ref], r.live[ref] = append(r.past[ref], answers), true
	case "delete ok":
		r.live[ref] = false
	case "get absent", "get ok":
		if r.live[ref] != (class == "get ok") {
			return fmt.Errorf("%s: %s", ref, class)
		}
	}
	if class != "get ok" {
		return nil
	}
	newest := r.past[ref][len(r.past[ref])-1]
	for i, got := range answers {
		if got.UID != newest[i].UID || got.Revision != newest[i].Revision || string(got.Body) != string(newest[i].Body) {
			return fmt.Errorf("%s: %s: read %+v, written %+v", ref, r.names[i], got, newest[i])
		}
	}
	return nil
}
