package cli

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A screen is written by one and read by another.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) waitFor(t *testing.T, text string) {
	t.Helper()
	for range 1000 {
		s.mu.Lock()
		has := strings.Contains(s.b.String(), text)
		s.mu.Unlock()
		if has {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no %q in\n%s", text, s.b.String())
}

// A watch shows the first look, what comes and what goes; when the changes end it says
// why, and what it has shown is known to the one that begins anew.
func TestWatchFollows(t *testing.T) {
	t.Parallel()
	cidr := netip.MustParsePrefix("10.0.0.0/30")
	good := model.Block{Name: "10-0-0-0-30", CIDR: cidr, Length: 4, Free: []int32{0, 1, 2, 3}}
	bad := good
	bad.Free = []int32{0, 1, 2}
	s := &model.Snapshot{
		Info:   []model.Info{{Datastore: "kdd", Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}},
		Pools:  []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/16"), BlockSize: 30}},
		Blocks: []model.Block{good},
	}
	for _, table := range model.Tables() {
		if !table.OfNode() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: table, State: model.Complete})
		}
	}
	live, err := audit.NewLive(s, audit.Options{Detectors: detect.All})
	if err != nil {
		t.Fatal(err)
	}
	out := &screen{}
	g := &global{Env: Env{Stdout: out, Stderr: out}}
	p := &printed{g: g, seen: map[string]bool{}, first: true}
	w := &watchLoop{g: g, printed: p, live: live, began: time.Now(), taken: 1_800_000_000} //nolint:forbidigo // what a watch counts from
	changes, ended, result := make(chan []observe.Change), make(chan error, 1), make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { result <- w.run(ctx, changes, ended) }()
	out.waitFor(t, "No findings")
	changes <- []observe.Change{{Ref: bad.Ref(), Row: &bad}}
	out.waitFor(t, "+ ")
	out.waitFor(t, "PL1004/10.0.0.0/30")
	mended := good
	changes <- []observe.Change{{Ref: good.Ref(), Row: &mended}}
	out.waitFor(t, "- ")
	ended <- observe.ErrGone
	if err := <-result; !errors.Is(err, observe.ErrGone) {
		t.Errorf("ended with %v", err)
	}
	if p.first || len(p.seen) != 0 {
		t.Errorf("first %v, shown %v", p.first, p.seen)
	}
}

// Who has followed what was suspected hears, when all was read anew, only what is new and
// what is gone.
func TestWatchTellsSinceBefore(t *testing.T) {
	t.Parallel()
	p := &printed{}
	p.note(audit.News{Raised: []string{"PL1001/10.0.0.1", "PL1001/10.0.0.2"}})
	p.note(audit.News{Cleared: []string{"PL1001/10.0.0.1"}, Raised: []string{"PL1001/10.0.0.3"}})
	n := p.sinceBefore([]finding.Finding{
		{Code: "PL1001", Subject: model.Ref{Name: "10.0.0.1"}}, {Code: "PL1001", Subject: model.Ref{Name: "10.0.0.3"}},
	})
	if !slices.Equal(n.Raised, []string{"PL1001/10.0.0.1"}) || !slices.Equal(n.Cleared, []string{"PL1001/10.0.0.2"}) {
		t.Errorf("raised %v, cleared %v", n.Raised, n.Cleared)
	}
}

// A cluster that was never reached is not waited for: it is the wrong one.
func TestWatchEndsWhereNothingIs(t *testing.T) {
	t.Parallel()
	out := &screen{}
	g := &global{Env: Env{Stdout: out, Stderr: out}}
	g.kube.Kubeconfig = filepath.Join(t.TempDir(), "none")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, quick := range []bool{false, true} {
		g.quick = quick
		if err := g.watch(ctx, checkFlags{}, audit.Options{}); err == nil || ctx.Err() != nil {
			t.Errorf("quick %v: ended with %v", quick, err)
		}
	}
	if err := g.watch(ctx, checkFlags{output: "json"}, audit.Options{}); err == nil || !strings.Contains(err.Error(), "-o json") {
		t.Errorf("-o json: %v", err)
	}
}
