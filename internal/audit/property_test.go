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

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// The gate judges 10,000 worlds, and a few with the race detector (-short); make long asks
// for a million through PLUMBLINE_WORLDS.
func TestMain(m *testing.M) {
	flag.Parse()
	n := os.Getenv("PLUMBLINE_WORLDS")
	if n == "" {
		n = "3334" // in each of three properties
		if testing.Short() {
			n = "500" // of which rapid takes a fifth
		}
	}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(n)
	}
	if f := flag.Lookup("rapid.seed"); os.Getenv("PLUMBLINE_WORLDS") == "" && f.Value.String() == f.DefValue {
		_ = f.Value.Set("1") // the gate judges the same worlds each time
	}
	os.Exit(m.Run())
}

func TestHealthyWorldsAreClean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if wrong := judged(t, newWorld(t)).wrong(nil); wrong != "" {
			t.Fatalf("a healthy world gives\n%s", wrong)
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
			if !f.fits(w) || slices.Contains([]string{"locked", "restored", "no way to a pod of another node"}, f.name) && slices.Contains(made, f.name) {
				continue
			}
			made = append(made, f.name)
			want = append(want, f.make(w)...)
		}
		if wrong := judged(t, w).wrong(want); wrong != "" {
			t.Fatalf("%s:\n%s", strings.Join(made, " and "), wrong)
		}
	})
}

// The order of rows does not matter, and evaluating subjects one by one gives the same
// findings as evaluating all.
func TestOrderNeverMatters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		f := faults[rapid.IntRange(0, len(faults)-1).Draw(t, "fault")]
		if f.fits(w) {
			f.make(w)
		}
		other := *w
		other.s = shuffled(w.s, rapid.Uint64().Draw(t, "order"))
		v := model.Seal(&other.s)
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
		if a, b := judged(t, &other), judged(t, w); !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: shuffled %v, straight %v", f.name, a, b)
		}
	})
}

// shuffled is a snapshot with all its tables in another order.
func shuffled(s model.Snapshot, seed uint64) model.Snapshot {
	rnd := rand.New(rand.NewPCG(seed, 0))
	shuffleTables(rnd, reflect.ValueOf(&s).Elem())
	s.NodeState = maps.Clone(s.NodeState)
	for _, node := range slices.Sorted(maps.Keys(s.NodeState)) {
		f := *s.NodeState[node]
		shuffleTables(rnd, reflect.ValueOf(&f).Elem())
		s.NodeState[node] = &f
	}
	return s
}

func shuffleTables(rnd *rand.Rand, tables reflect.Value) {
	for i := range tables.NumField() {
		rows := tables.Field(i)
		if rows.Kind() != reflect.Slice {
			continue
		}
		copied := reflect.MakeSlice(rows.Type(), rows.Len(), rows.Len())
		reflect.Copy(copied, rows)
		rnd.Shuffle(copied.Len(), reflect.Swapper(copied.Interface()))
		rows.Set(copied)
	}
}

// Every kind of fault is tried.
func TestEveryFaultAlone(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			type trial struct {
				wrong string
				wants int
			}
			worlds := rapid.Custom(func(t *rapid.T) trial {
				w := newWorld(t)
				if !f.fits(w) {
					return trial{}
				}
				want := f.make(w)
				return trial{judged(t, w).wrong(want), len(want)}
			})
			tried := 0
			for seed := range 40 {
				o := worlds.Example(seed)
				if o.wrong != "" {
					t.Fatalf("seed %d:\n%s", seed, o.wrong)
				}
				tried += o.wants
			}
			if tried == 0 {
				t.Error("never tried")
			}
		})
	}
}
