package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

const guid = "1f0c8c7e2a394f0d9bd7a11c55f0e4aa"

func aPlan(id string) *repair.Plan {
	return &repair.Plan{
		Schema: repair.Schema, ID: id, Cluster: guid, Made: 1_700_000_000, Version: "v1",
		Targets: []repair.Target{{
			Finding: "PL1001/10.244.8.34", Summary: "leaked <&> address", Risk: change.Disruptive,
			Evidence: []finding.Evidence{{Ref: model.Ref{Kind: model.KindBlock, Name: "10.244.8.0/26"}, Says: "held"}},
			Proof:    change.Proof{NotInUse: &change.NotInUse{IPs: []netip.Addr{netip.MustParseAddr("10.244.8.34")}, All: true}},
		}},
		Steps: []repair.Step{
			{ID: 0, Do: "release", On: model.Ref{Kind: model.KindBlock, Name: "10.244.8.0/26"}, For: []string{"PL1001/10.244.8.34"}, Change: change.Ordinals{{
				For: "PL1001/10.244.8.34", IP: netip.MustParseAddr("10.244.8.34"),
				From: &change.Held{Attribute: model.Attribute{Handle: "k8s-pod-network.x", Other: 7}, Sequence: 1 << 60},
			}}},
			{ID: 1, Do: "recount", Always: true, Change: &change.Count{Handle: "k8s-pod-network.x"}},
		},
	}
}

func someEntries(n int) []repair.Entry {
	var out []repair.Entry
	for i := range n {
		e := repair.Entry{
			At: 1_700_000_000 + model.Time(i), Step: i / 2 % 2, Outcome: repair.Intent, Why: strings.Repeat("ä <\x1e\n\x00>", i%5),
			Was: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)),
		}
		if i%2 == 1 {
			e.Outcome, e.Was, e.Revision = repair.Done, nil, "77"
		}
		out = append(out, e)
	}
	return out
}

// kept makes a journal with entries, closes it, and gives its directory.
func kept(t *testing.T, state, id string, es ...repair.Entry) string {
	t.Helper()
	j, err := Create(state, guid, aPlan(id))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return j.Path()
}

func opened(t *testing.T, state, id string) *Journal {
	t.Helper()
	j, err := Open(state, guid, id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestWhatIsAppendedIsReadAgain(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "deep", "state")
	es := someEntries(20)
	dir := kept(t, state, "7f3a", es...)
	if want := filepath.Join(state, "plumbline", guid, "7f3a"); dir != want {
		t.Errorf("it is in %s, not %s", dir, want)
	}
	j := opened(t, state, "7f3a")
	if !reflect.DeepEqual(j.Entries(), es) {
		t.Errorf("entries:\n%v\nnot\n%v", j.Entries(), es)
	}
	if !reflect.DeepEqual(j.Plan(), aPlan("7f3a")) {
		t.Errorf("plan %+v", j.Plan())
	}
	if j.Torn() != 0 {
		t.Errorf("%d bytes were cut off a whole log", j.Torn())
	}
	plan, got, err := Read(state, guid, "7f3a") // while it is open
	if err != nil || !reflect.DeepEqual(got, es) || plan.ID != "7f3a" {
		t.Errorf("read: %v, %v, %v", plan, got, err)
	}
	for path, want := range map[string]fs.FileMode{
		state: 0o700 | fs.ModeDir, filepath.Dir(dir): 0o700 | fs.ModeDir, dir: 0o700 | fs.ModeDir,
		filepath.Join(dir, planFile): 0o600, filepath.Join(dir, logFile): 0o600,
	} {
		if st, err := os.Stat(path); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
}

func TestEntriesAreKeptAsTheyWere(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	kept(t, state, "a")
	j := opened(t, state, "a")
	e := repair.Entry{Outcome: repair.Intent, Was: json.RawMessage(`{"a":1}`), For: []string{"x"}}
	if err := j.Append(e); err != nil {
		t.Fatal(err)
	}
	e.Was[2], e.For[0] = 'z', "y"
	j.Entries()[0].Step = 9
	if got := j.Entries()[0]; string(got.Was) != `{"a":1}` || got.For[0] != "x" || got.Step != 0 {
		t.Errorf("the caller changed the journal: %+v", got)
	}
}

func TestOneJournalPerPlanAndOneWriter(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := kept(t, state, "a", someEntries(2)...)
	if _, err := Create(state, guid, aPlan("a")); !errors.Is(err, ErrExists) {
		t.Errorf("a second journal: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), unnamed+"*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	j := opened(t, state, "a")
	if _, err := Open(state, guid, "a"); !errors.Is(err, errInUse) {
		t.Errorf("a second writer: %v", err)
	}
	if err := j.Append(someEntries(1)[0]); err != nil {
		t.Error(err)
	}
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Error(err)
	}
	if err := j.Append(someEntries(1)[0]); !errors.Is(err, os.ErrClosed) {
		t.Errorf("append after the end: %v", err)
	}
	if got := opened(t, state, "a").Entries(); len(got) != 3 {
		t.Errorf("%d entries", len(got))
	}
	fresh, err := Create(state, guid, aPlan("b"))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if _, err := Open(state, guid, "b"); !errors.Is(err, errInUse) {
		t.Errorf("a second writer of a fresh one: %v", err)
	}
}

func TestManyAppendAtOnce(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	kept(t, state, "a")
	j := opened(t, state, "a")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 5 {
				if err := j.Append(repair.Entry{Step: 10*i + k, Outcome: repair.Done}); err != nil {
					t.Error(err)
				}
				_ = j.Entries()
			}
		})
	}
	all.Wait()
	_ = j.Close()
	seen := map[int]bool{}
	for _, e := range opened(t, state, "a").Entries() {
		seen[e.Step] = true
	}
	if len(seen) != 40 {
		t.Errorf("%d of 40 are there", len(seen))
	}
}

func TestNamesFromStrangers(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "a\n", "a b", "ä", "a\x00", strings.Repeat("a", 65)} {
		if _, err := Create(state, guid, aPlan(bad)); err == nil {
			t.Errorf("plan %q was taken", bad)
		}
		p := aPlan("a")
		p.Cluster = bad
		if _, err := Create(state, bad, p); err == nil {
			t.Errorf("cluster %q was taken", bad)
		}
		_, err1 := Open(state, guid, bad)
		_, err2 := Open(state, bad, "a")
		_, err3 := List(state, bad)
		_, _, err4 := Read(state, guid, bad)
		for i, err := range []error{err1, err2, err3, err4} {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q, %d: %v", bad, i, err)
			}
		}
	}
	if _, err := Create("state", guid, aPlan("a")); err == nil {
		t.Error("a directory relative to wherever we are was taken")
	}
	other := aPlan("a")
	other.Cluster = "other"
	if _, err := Create(state, guid, other); err == nil {
		t.Error("the plan of another cluster was taken")
	}
	later := aPlan("a")
	later.Schema++
	if _, err := Create(state, guid, later); err == nil {
		t.Error("a plan of another schema was taken")
	}
	if all, err := os.ReadDir(state); err != nil || len(all) != 0 {
		t.Errorf("left behind: %v %v", all, err)
	}
	if _, err := Open(state, guid, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	dir, err := planDir(state, guid, "lost")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err1 := Open(state, guid, "lost")
	_, _, err2 := Read(state, guid, "lost")
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, errDamaged) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("one that lost its file: %v", err)
		}
	}
}

func TestOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{planFile, logFile} {
		state := t.TempDir()
		path := filepath.Join(kept(t, state, "a"), name)
		away := filepath.Join(state, "away")
		if err := errors.Join(os.Rename(path, away), os.Symlink(away, path)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(state, guid, "a"); err == nil {
			t.Errorf("%s: a link was followed", name)
		}
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(state, guid, "a"); err == nil {
			t.Errorf("%s: a pipe was read", name)
		}
		if _, _, err := hostfile.OpenRegular(path, os.O_RDONLY); err == nil {
			t.Errorf("%s: a pipe was opened", name)
		}
		if all, err := List(state, guid); err != nil || len(all) != 1 || all[0].State != Broken {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
}
