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
	t       *testing.T
	log     string
	now     time.Time
	kubelet time.Time
	w       *delWatch
}

func newDelStand(t *testing.T) *delStand {
	t.Helper()
	root := t.TempDir()
	s := &delStand{t: t, log: filepath.Join(root, "var/log/kubelet.log"), now: time.Date(2026, 11, 17, 8, 0, 0, 0, time.UTC)}
	must(t, os.MkdirAll(filepath.Dir(s.log), 0o755))
	s.w = newDelWatch(root, nil, func() time.Time { return s.now }, func() time.Time { return s.kubelet })
	return s
}

// begun is a stand whose log was found.
func begun(t *testing.T) *delStand {
	t.Helper()
	s := newDelStand(t)
	s.write("begun\n")
	_, err := s.after(0)
	must(t, err)
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

// fails is the line that the kubelet 1.34 writes now, recorded with containerd in the lab.
func (s *delStand) fails(id string) string { return failsAt(s.now, id) }

func failsAt(at time.Time, id string) string {
	return fmt.Sprintf(`E%s.000001     682 log.go:32] "StopPodSandbox from runtime service failed" err="rpc error: code = Unknown desc = failed to destroy network for sandbox \"%[2]s\": plugin type=\"calico\" failed (delete): error getting ClusterInformation: connection is unauthorized: Unauthorized" podSandboxID="%[2]s"`+"\n", at.Format("0102 15:04:05"), id)
}

var boxes = [3]string{strings.Repeat("aa", 32), strings.Repeat("bb", 32), strings.Repeat("cc", 32)}

func TestFailedDels(t *testing.T) {
	t.Parallel()
	a, b := boxes[0], boxes[1]
	s := newDelStand(t)
	if _, err := s.after(0); err == nil || errors.Is(err, observe.ErrPartial) || !strings.Contains(err.Error(), "no log of the running kubelet") {
		t.Errorf("without a log: %v", err)
	}
	s = newDelStand(t)
	s.write(s.fails(a))
	got, err := s.after(0)
	if err != nil || len(got) != 0 {
		t.Fatalf("what was written before the agent started: %v, %v", got, err)
	}
	s.now = s.now.Add(20 * time.Second)
	s.write(s.fails(a), strings.Replace(s.fails(a), "StopPodSandbox from runtime service failed", "Failed to stop sandbox before removing", 1), "I1117 network is fine "+b+"\n")
	if got, err = s.after(0); err != nil || len(got) != 1 || got["aa"].Tries != 1 || got["aa"].Span != 0 {
		t.Fatalf("one attempt: %v, %v", got, err)
	}
	if want := `plugin type="calico" failed (delete): error getting ClusterInformation: connection is unauthorized: Unauthorized`; got["aa"].Error != want {
		t.Errorf("%q", got["aa"].Error)
	}
	// A line that is being written counts when it is whole, and once.
	s.now = s.now.Add(time.Minute)
	line := s.fails(a)
	s.write(line[:len(line)-90])
	if got, _ = s.after(0); got["aa"].Tries != 1 {
		t.Errorf("half a line: %v", got)
	}
	s.write(line[len(line)-90:])
	if got, _ = s.after(20 * time.Second); got["aa"].Tries != 2 || got["aa"].Span != 60 || got["aa"].Ago != 20 {
		t.Errorf("two attempts: %v", got)
	}
	if got, _ = s.after(delFresh - 20*time.Second); len(got) != 1 || got["aa"].Ago != 180 {
		t.Errorf("it may be retried still: %v", got)
	}
	if got, _ = s.after(time.Second); len(got) != 0 {
		t.Errorf("it was not retried for %s: %v", delFresh, got)
	}
}

// What is no attempt of the kubelet to stop a sandbox: a pod's own words, another message, no ID.
func TestDelLines(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	good := failsAt(now, boxes[0])
	for line, want := range map[string]bool{
		good: true,
		"2026-01-02T03:04:05.000000+0000 node1 k3s[682]: " + good: true,
		`{"ts":1767323045000.1,"caller":"log.go:32","msg":"StopPodSandbox from runtime service failed","err":"failed to destroy network for sandbox \"` + boxes[0] + `\": x"}`:           true,
		`E0102 03:04:05.1 5448 remote_runtime.go:114] StopPodSandbox "` + boxes[0] + `" from runtime service failed: rpc error: NetworkPlugin cni failed to teardown pod "p" network: x`: true,
		`I0102 03:04:05.1 1 prober.go:120] "Probe failed" output="] StopPodSandbox failed to destroy network for sandbox ` + boxes[0] + `"`:                                              false,
		strings.ReplaceAll(good, boxes[0], "short"): false,
		"": false,
	} {
		d, ok := parseDelLine(line, time.UTC, now)
		if ok != want || ok && (d.sandbox != boxes[0] || !d.at.Equal(now)) {
			t.Errorf("%s: %t, %v", line, ok, d.at)
		}
	}
	east := time.FixedZone("", 8*3600)
	if d, ok := parseDelLine(failsAt(now.In(east), boxes[0]), east, now); !ok || !d.at.Equal(now) {
		t.Errorf("in UTC+8: %t, %v", ok, d.at)
	}
	if d, _ := parseDelLine(failsAt(time.Date(2025, 12, 31, 23, 59, 0, 0, time.UTC), boxes[0]), time.UTC, now); d.at.Year() != 2025 {
		t.Errorf("of last year: %v", d.at)
	}
}

// A kubelet may have another zone than its node, in either direction: what is appended is of now.
func TestFailedDelsInAnotherZone(t *testing.T) {
	t.Parallel()
	for _, hours := range []int{-11, -5, 0, 8} {
		s := begun(t)
		for range 2 {
			s.now = s.now.Add(time.Minute)
			s.write(failsAt(s.now.In(time.FixedZone("", hours*3600)), boxes[0]))
			if _, err := s.after(0); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.after(time.Second); err != nil || got["aa"].Tries != 2 || got["aa"].Span != 60 {
			t.Errorf("%d hours: %v, %v", hours, got, err)
		}
	}
}

// The log is rotated in each of the usual ways while lines are written: none counts twice, and what
// may be lost is said.
func TestFailedDelsRotated(t *testing.T) {
	t.Parallel()
	s := begun(t)
	s.now = s.now.Add(20 * time.Second)
	s.write(s.fails(boxes[0]))
	_, err := s.after(0)
	must(t, err)
	s.write(s.fails(boxes[1]))
	must(t, os.Rename(s.log, s.log+".1")) // after the line, before it was read
	s.write(s.fails(boxes[2]))
	got, err := s.after(20 * time.Second)
	if err != nil || got["aa"].Tries != 1 || got["bb"].Tries != 1 || got["cc"].Tries != 1 {
		t.Errorf("renamed: %v, %v", got, err)
	}
	b, err := os.ReadFile(s.log)
	must(t, err)
	must(t, os.WriteFile(s.log+".2", b, 0o600)) // copytruncate: the same lines again in a new file
	must(t, os.Truncate(s.log, 0))
	s.now = s.now.Add(20 * time.Second)
	s.write("x\n", failsAt(s.now, boxes[1]))
	if got, err = s.after(20 * time.Second); err != nil || got["aa"].Tries != 1 || got["bb"].Tries != 2 || got["cc"].Tries != 1 {
		t.Errorf("copied and emptied: %v, %v", got, err)
	}
	s.write(strings.Repeat(strings.Repeat("x", 99)+"\n", maxTail/100+1), s.fails(boxes[1]))
	if got, err = s.after(20 * time.Second); !errors.Is(err, observe.ErrPartial) || got["bb"].Tries != 3 {
		t.Errorf("too much at a time: %v, %v", got, err)
	}
	if _, err = s.after(20 * time.Second); err != nil {
		t.Errorf("and then no more: %v", err)
	}
	must(t, os.Rename(s.log, s.log+".3.gz")) // packed at once
	s.write("anew\n")
	if _, err = s.after(20 * time.Second); !errors.Is(err, errVanished) {
		t.Errorf("gone: %v", err)
	}
}

// A log that was not written to since the kubelet started is another's.
func TestFailedDelsOfAnotherKubelet(t *testing.T) {
	t.Parallel()
	s := begun(t)
	s.kubelet = time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := s.after(time.Second); err == nil || errors.Is(err, observe.ErrPartial) {
		t.Errorf("%v", err)
	}
}

// The guard's report adds to the log, and never stands in for it: it does not see every DEL.
func TestFailedDelsOfGuard(t *testing.T) {
	t.Parallel()
	s := newDelStand(t)
	r := &guard.Report{Mode: guard.Observe, At: s.now, Tally: guard.Tally{Endless: []guard.Endless{
		{Key: guard.Key{Container: boxes[0]}, Count: 7, Since: s.now.Add(-time.Hour), Last: s.now, Error: "plugin failed token=" + strings.Repeat("x", 2*maxDelError)},
		{Key: guard.Key{Container: "forged"}, Count: 7, Last: s.now},
	}}}
	s.w.report = func() (*guard.Report, error) { return r, nil }
	got, err := s.after(time.Second)
	if err == nil || len(got) != 1 || got["aa"].Tries != 7 || got["aa"].Span != 3600 || len(got["aa"].Error) > maxDelError {
		t.Errorf("%v, %v", got, err)
	}
	r.Endless[0].Last = s.now.Add(10 * time.Minute) // the clock was set back
	if got, _ = s.after(time.Second); got["aa"].Ago > 5 {
		t.Errorf("of the future: %v", got)
	}
	if got, _ = s.after(2 * delFresh); len(got) != 0 {
		t.Errorf("the guard daemon does not run: %v", got)
	}
}

// A flood of sandboxes is bounded, and said.
func TestFailedDelsBounded(t *testing.T) {
	t.Parallel()
	s := begun(t)
	for i := range maxDels + 3 {
		s.write(s.fails(fmt.Sprintf("%064x", i)))
	}
	s.now = s.now.Add(time.Second)
	var f model.NodeState
	if err := s.w.read(t.Context(), &f); len(f.FailedDels) != maxDels || !errors.Is(err, observe.ErrPartial) {
		t.Errorf("%d, %v", len(f.FailedDels), err)
	}
}
