package audit_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// The gate judges 10,000 worlds; make long asks for a million through PLUMBLINE_WORLDS.
func TestMain(m *testing.M) {
	flag.Parse()
	n := os.Getenv("PLUMBLINE_WORLDS")
	if n == "" {
		n = "3334" // in each of three properties
	}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(n)
	}
	os.Exit(m.Run())
}

// judged gives the names of all findings and suspicions that are not folded away.
func judged(t *rapid.T, w *world) []string {
	s := w.s
	r := audit.Judge(t.Context(), &s, audit.Source{}, audit.Options{Detectors: detect.All})
	var out []string
	for i := range r.Findings {
		out = append(out, r.Findings[i].Key())
	}
	for i := range r.Suspected {
		out = append(out, r.Suspected[i].Key())
	}
	for _, s := range r.Skipped {
		if !s.NotApplicable {
			t.Fatalf("%s was not judged: %s", s.Code, s.Why)
		}
	}
	slices.Sort(out)
	return out
}

func TestHealthyWorldsAreClean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if got := judged(t, newWorld(t)); len(got) > 0 {
			t.Fatalf("a healthy world gives %v", got)
		}
	})
}

// Each fault, alone and with another, gives exactly its findings.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		var want, made []string
		for range rapid.IntRange(1, 2).Draw(t, "faults") {
			f := faults[rapid.IntRange(0, len(faults)-1).Draw(t, "fault")]
			if mode := map[bool]string{true: "etcd", false: "kdd"}[w.etcd]; f.only != "" && f.only != mode {
				continue
			}
			if f.name == "locked" && slices.Contains(made, "locked") {
				continue
			}
			made = append(made, f.name)
			want = append(want, f.make(w)...)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if got := judged(t, w); !slices.Equal(got, want) {
			t.Fatalf("%s:\ngot  %v\nwant %v", strings.Join(made, " and "), got, want)
		}
	})
}

// The order of rows never matters, and judging one subject after the other finds what
// judging all at once finds.
func TestOrderNeverMatters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		f := faults[rapid.IntRange(0, len(faults)-1).Draw(t, "fault")]
		if mode := map[bool]string{true: "etcd", false: "kdd"}[w.etcd]; f.only == "" || f.only == mode {
			f.make(w)
		}
		s := w.s
		s.Pods, s.Nodes, s.Blocks, s.Handles = slices.Clone(s.Pods), slices.Clone(s.Nodes), slices.Clone(s.Blocks), slices.Clone(s.Handles)
		s.Affinities, s.Endpoints = slices.Clone(s.Affinities), slices.Clone(s.Endpoints)
		shuffle(t, s.Pods, s.Nodes, s.Blocks, s.Handles, s.Affinities, s.Endpoints)
		v := model.Seal(&s)
		want := names(detect.Run(v, detect.All...).Findings)
		got := map[string]bool{}
		for _, d := range detect.All {
			for _, table := range d.Each {
				for i := range v.Rows(table) {
					for _, k := range names(detect.Judge(v, []model.Subject{{Table: table, Ref: v.RefOf(table, int32(i))}}, d).Findings) {
						got[k] = true
					}
				}
			}
		}
		slices.Sort(want)
		if one := slices.Sorted(maps.Keys(got)); !slices.Equal(one, want) {
			t.Fatalf("%s: one by one %v, all at once %v", f.name, one, want)
		}
		if shuffled, straight := judged(t, &world{s: s}), judged(t, w); !slices.Equal(shuffled, straight) {
			t.Fatalf("%s: shuffled %v, straight %v", f.name, shuffled, straight)
		}
	})
}

// shuffle brings tables into another order.
func shuffle(t *rapid.T, pods []model.Pod, nodes []model.Node, blocks []model.Block, handles []model.Handle, affinities []model.Affinity, endpoints []model.Endpoint) {
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
	rnd.Shuffle(len(pods), reflect.Swapper(pods))
	rnd.Shuffle(len(nodes), reflect.Swapper(nodes))
	rnd.Shuffle(len(blocks), reflect.Swapper(blocks))
	rnd.Shuffle(len(handles), reflect.Swapper(handles))
	rnd.Shuffle(len(affinities), reflect.Swapper(affinities))
	rnd.Shuffle(len(endpoints), reflect.Swapper(endpoints))
}

// Every kind of fault is tried, whatever chance would have picked.
func TestEveryFaultAlone(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			type outcome struct{ got, want []string }
			worlds := rapid.Custom(func(t *rapid.T) (o outcome) {
				w := newWorld(t)
				if mode := map[bool]string{true: "etcd", false: "kdd"}[w.etcd]; f.only != "" && f.only != mode {
					return o
				}
				o.want = f.make(w)
				slices.Sort(o.want)
				o.got = judged(t, w)
				return o
			})
			tried := 0
			for seed := range 40 {
				o := worlds.Example(seed)
				if !slices.Equal(o.got, o.want) {
					t.Fatalf("seed %d: got  %v\nwant %v", seed, o.got, o.want)
				}
				tried += len(o.want)
			}
			if tried == 0 {
				t.Error("never tried")
			}
		})
	}
}
