package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A delStand is a node with a kubelet's log, and a clock that the test moves.
type delStand struct {
	t   *testing.T
	log string
	now time.Time
	w   *delWatch
}

func newDelStand(t *testing.T) *delStand {
	t.Helper()
	root := t.TempDir()
	s := &delStand{t: t, log: filepath.Join(root, "var/log/kubelet.log"), now: time.Date(2026, 11, 17, 8, 0, 0, 0, time.UTC)}
	must(t, os.MkdirAll(filepath.Dir(s.log), 0o755))
	s.w = newDelWatch(root, nil, func() time.Time { return s.now })
	return s
}

func (s *delStand) write(lines ...string) {
	s.t.Helper()
	f, err := os.OpenFile(s.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(s.t, err)
	_, err = f.WriteString(strings.Join(lines, ""))
	must(s.t, errors.Join(err, f.Close()))
}

// after reads once more, later.
func (s *delStand) after(d time.Duration) (map[string]model.FailedDel, error) {
	s.t.Helper()
	s.now = s.now.Add(d)
	var f model.NodeState
	err := s.w.read(s.t.Context(), &f)
	out := map[string]model.FailedDel{}
	for _, r := range f.FailedDels {
		out[r.Sandbox[:2]] = r
	}
	return out, err
}

// failsDel is a line as the kubelet 1.34 writes it for containerd, recorded in the lab.
func failsDel(id string) string {
	return fmt.Sprintf(`E1117 08:00:00.000001 1 log.go:32] "StopPodSandbox from runtime service failed" err="rpc error: code = Unknown desc = failed to destroy network for sandbox \"%[1]s\": plugin type=\"calico\" failed (delete): error getting ClusterInformation: connection is unauthorized: Unauthorized" podSandboxID="%[1]s"`+"\n", id)
}

func TestFailedDels(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("aa", 32), strings.Repeat("bb", 32)
	s := newDelStand(t)
	if _, err := s.after(0); err == nil || errors.Is(err, observe.ErrPartial) || !strings.Contains(err.Error(), "no kubelet log") {
		t.Errorf("without a log: %v", err)
	}
	s = newDelStand(t)
	s.write(failsDel(a))
	got, err := s.after(0)
	if err != nil || len(got) != 0 {
		t.Fatalf("what was written before the agent started is not of now: %v, %v", got, err)
	}
	s.write(failsDel(a), failsDel(a), "I1117 network is fine "+b+"\n")
	if got, err = s.after(20 * time.Second); err != nil || len(got) != 1 || got["aa"].Tries != 1 {
		t.Fatalf("one attempt: %v, %v", got, err)
	}
	if want := `plugin type="calico" failed (delete): error getting ClusterInformation: connection is unauthorized: Unauthorized`; got["aa"].Error != want {
		t.Errorf("%q", got["aa"].Error)
	}
	// A line that is being written counts when it is whole, and once.
	line := failsDel(a)
	s.write(line[:len(line)-90])
	if got, _ = s.after(20 * time.Second); got["aa"].Tries != 1 {
		t.Errorf("half a line: %v", got)
	}
	s.write(line[len(line)-90:])
	if got, _ = s.after(20 * time.Second); got["aa"].Tries != 2 {
		t.Errorf("two attempts: %v", got)
	}
	if got, _ = s.after(delFresh); len(got) != 1 {
		t.Errorf("it may be retried still: %v", got)
	}
	if got, _ = s.after(time.Second); len(got) != 0 {
		t.Errorf("it was not retried for %s: %v", delFresh, got)
	}
}

// The log is rotated in each of the usual ways while lines are written: none counts twice, none is lost.
func TestFailedDelsRotated(t *testing.T) {
	t.Parallel()
	a, b, c := strings.Repeat("aa", 32), strings.Repeat("bb", 32), strings.Repeat("cc", 32)
	s := newDelStand(t)
	s.write("begun\n")
	_, err := s.after(0)
	must(t, err)
	s.write(failsDel(a))
	_, err = s.after(20 * time.Second)
	must(t, err)
	s.write(failsDel(b))
	must(t, os.Rename(s.log, s.log+".1")) // after the line, before it was read
	s.write(failsDel(c))
	got, err := s.after(20 * time.Second)
	if err != nil || got["aa"].Tries != 1 || got["bb"].Tries != 1 || got["cc"].Tries != 1 {
		t.Errorf("renamed: %v, %v", got, err)
	}
	s.write("more\n")
	_, err = s.after(time.Second)
	must(t, err)
	must(t, os.Truncate(s.log, 0))
	s.write(failsDel(b))
	if got, err = s.after(20 * time.Second); err != nil || got["aa"].Tries != 1 || got["bb"].Tries != 2 || got["cc"].Tries != 1 {
		t.Errorf("emptied: %v, %v", got, err)
	}
	s.write(strings.Repeat(strings.Repeat("x", 99)+"\n", maxTail/100+1), failsDel(b))
	if got, err = s.after(20 * time.Second); !errors.Is(err, observe.ErrPartial) || got["bb"].Tries != 3 {
		t.Errorf("too much at a time: %v, %v", got, err)
	}
	if _, err = s.after(20 * time.Second); err != nil {
		t.Errorf("and then no more: %v", err)
	}
}

// The guard's report stands in for a log that cannot be read, while the guard is in place.
func TestFailedDelsOfGuard(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("aa", 32)
	s := newDelStand(t)
	r := &guard.Report{Mode: guard.Observe, At: s.now, Tally: guard.Tally{Endless: []guard.Endless{
		{Key: guard.Key{Container: a}, Count: 7, Last: s.now, Error: "plugin failed token=" + strings.Repeat("x", 2*maxDelError)},
		{Key: guard.Key{Container: "forged"}, Count: 7, Last: s.now},
	}}}
	s.w.report = func() (*guard.Report, error) { return r, nil }
	got, err := s.after(time.Second)
	if err != nil || len(got) != 1 || got["aa"].Tries != 7 || len(got["aa"].Error) > maxDelError {
		t.Errorf("%v, %v", got, err)
	}
	r.Endless = append(r.Endless, make([]guard.Endless, guard.MaxEndless)...)
	if _, err = s.after(time.Second); err == nil {
		t.Error("it reports only the most retried")
	}
	r.Endless = r.Endless[:1]
	if _, err = s.after(2 * delFresh); err == nil {
		t.Error("the guard daemon does not run")
	}
}

// A flood of sandboxes is bounded, and said.
func TestFailedDelsBounded(t *testing.T) {
	t.Parallel()
	s := newDelStand(t)
	s.write("begun\n")
	_, err := s.after(0)
	must(t, err)
	for i := range maxDels + 3 {
		s.write(failsDel(fmt.Sprintf("%064x", i)))
	}
	s.now = s.now.Add(time.Second)
	var f model.NodeState
	if err := s.w.read(t.Context(), &f); len(f.FailedDels) != maxDels || !errors.Is(err, observe.ErrPartial) {
		t.Errorf("%d, %v", len(f.FailedDels), err)
	}
}
