package journal

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

func TestStateOf(t *testing.T) {
	t.Parallel()
	step := func(o repair.Outcome) repair.Entry { return repair.Entry{Outcome: o} }
	plan := func(o repair.Outcome) repair.Entry { return repair.Entry{Step: EntirePlan, Outcome: o} }
	undo := func(o repair.Outcome) repair.Entry { return repair.Entry{Step: EntireUndo, Outcome: o, Undo: true} }
	for i, c := range []struct {
		want State
		es   []repair.Entry
	}{
		{Interrupted, nil},
		{Interrupted, []repair.Entry{step(repair.Intent)}},
		{Interrupted, []repair.Entry{plan(repair.Intent), step(repair.Done)}},
		{Finished, []repair.Entry{step(repair.Intent), step(repair.Done), plan(repair.Done)}},
		{Finished, []repair.Entry{plan(repair.Already), {Step: -7, Outcome: repair.Failed}}},
		{Stopped, []repair.Entry{step(repair.Refused), plan(repair.Refused)}},
		{Interrupted, []repair.Entry{plan(repair.Failed), step(repair.Intent)}},
		{Interrupted, []repair.Entry{plan(repair.Done), {Undo: true, Outcome: repair.Done}}},
		{Interrupted, []repair.Entry{plan(repair.Done), undo(repair.Intent)}},
		{Stopped, []repair.Entry{plan(repair.Done), undo(repair.Unknown)}},
		{Undone, []repair.Entry{plan(repair.Done), {Undo: true, Outcome: repair.Done}, undo(repair.Done)}},
	} {
		if got := StateOf(c.es); got != c.want {
			t.Errorf("%d: %s, not %s", i, got, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	es := []repair.Entry{
		{Step: 0, Outcome: repair.Intent},
		{Step: 0, Outcome: repair.Stale},
		{Step: 0, Outcome: repair.Done},
		{Step: 1, Outcome: repair.Intent},
		{Step: 5, Outcome: repair.Done}, // not of the plan
		{Step: EntirePlan, Outcome: repair.Done},
		{Step: 0, Undo: true, Outcome: repair.Refused},
	}
	if got, want := progressOf(aPlan("a"), es), (map[int]repair.Outcome{0: repair.Done, 1: repair.Intent}); !maps.Equal(got, want) {
		t.Errorf("progress %v", got)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if all, err := List(state, guid); err != nil || len(all) != 0 {
		t.Errorf("nothing: %v, %v", all, err)
	}
	begin := func(id string, made model.Time, es ...repair.Entry) *Journal {
		p := aPlan(id)
		p.Made = made
		j, err := restore(state, guid, p, es)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
		return j
	}
	end := func(j *Journal) string { _ = j.Close(); return j.Path() }
	end(begin("old", 100, someEntries(3)...))
	end(begin("done", 300, repair.Entry{Step: EntirePlan, Outcome: repair.Done, At: 310}))
	end(begin("stop", 200, repair.Entry{Step: EntirePlan, Outcome: repair.Refused, Why: "w17 is silent"}))
	begin("run", 400, repair.Entry{Step: EntirePlan, Outcome: repair.Failed, Why: "then"})
	rotten := end(begin("rotten", 250, someEntries(2)...))
	log := readLog(t, rotten)
	log[len(log)-5] ^= 1
	writeLog(t, rotten, log)
	torn := end(begin("torn", 50, someEntries(2)...))
	log = readLog(t, torn)
	writeLog(t, torn, log[:len(log)-1])
	base := filepath.Dir(torn)
	for _, dir := range []string{"empty", "b\x1b[31m", unnamed + "123"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "unconfirmed.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := List(state, guid)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, s.Plan+" "+string(s.State))
	}
	want := []string{
		"run running", "done finished", "rotten broken", "stop stopped", "old interrupted", "torn interrupted",
		`"b\x1b[31m" broken`, "empty broken", // and not the file
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed:\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i := range all {
		s := &all[i]
		switch {
		case s.State == Broken || s.State == Stopped:
			if s.Why == "" {
				t.Errorf("%s: no reason", s.Plan)
			}
		case s.Why != "":
			t.Errorf("%s: %s", s.Plan, s.Why)
		}
		if i < 6 && (s.Risk != change.Disruptive || len(s.Targets) != 1 || s.Targets[0] != "PL1001/10.244.8.34" || s.Steps != 2) {
			t.Errorf("%+v", s)
		}
	}
	if all[1].Made != model.Time(300).Time() || all[1].Last != model.Time(310).Time() || all[4].Tried != 2 || all[5].Tried != 1 {
		t.Errorf("%+v", all)
	}
	if now := readLog(t, torn); len(now) != len(log)-1 {
		t.Error("a look changed a log")
	}
	j, err := Open(state, guid, "old") // the look let it go
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestALookKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := kept(t, state, "a", someEntries(2)...)
	f, _, err := hostfile.OpenRegular(filepath.Join(dir, logFile), os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(30*time.Millisecond, func() { _ = f.Close() })
	j, err := Open(state, guid, "a")
	if err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			if all, err := List(state, guid); err != nil || len(all) != 1 || all[0].State == Broken {
				<-stop
				ended <- errors.Join(err, errors.New("the look saw something broken"))
				return
			}
		}
	}()
	for range 100 {
		j, err := Open(state, guid, "a")
		if err != nil {
			t.Error(err)
			break
		}
		if err := errors.Join(j.Append(someEntries(1)[0]), j.Close()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
