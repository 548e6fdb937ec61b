package cluster

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// What is followed is judged at first, after each change, and no more when the watch ends.
func TestFollow(t *testing.T) {
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
	rows, err := observe.NewRows(s)
	if err != nil {
		t.Fatal(err)
	}
	passes := make(chan Pass, 16)
	c := &Cluster{o: Options{Notice: func(string) {}}}
	f := &following{
		Cluster: c, selection: &selection{c: c}, series: audit.NewSeries(audit.Options{Detectors: detect.All}), each: func(p Pass) { passes <- p },
		src: audit.Source{Adjust: c.adjust}, rows: rows, began: time.Now(), taken: 1_800_000_000, //nolint:forbidigo // what a watch counts from
	}
	changes, ended, result := make(chan []observe.Change), make(chan error, 1), make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { result <- f.loop(ctx, "guid", changes, ended) }()
	next := func(findings int) {
		t.Helper()
		select {
		case p := <-passes:
			if len(p.Findings) != findings {
				t.Errorf("%d findings, want %d: %v", len(p.Findings), findings, p.Findings)
			}
		case <-ctx.Done():
			t.Fatal("not judged")
		}
	}
	next(0)
	changes <- []observe.Change{{Ref: bad.Ref(), Row: &bad}}
	next(1)
	mended := good
	changes <- []observe.Change{{Ref: good.Ref(), Row: &mended}}
	next(0)
	ended <- observe.ErrGone
	if err := <-result; !errors.Is(err, observe.ErrGone) {
		t.Errorf("ended with %v", err)
	}
}

// An answers gives the same answer to each reread.
type answers observe.Reread

func (a answers) Reread(context.Context, []model.Ref) (observe.Reread, error) {
	a.At = time.Now() //nolint:forbidigo // a server's time
	return observe.Reread(a), nil
}

// What is unconfirmed is confirmed when its time has come, although nothing changes and nothing is judged again.
func TestFollowRereads(t *testing.T) {
	t.Parallel()
	cidr := netip.MustParsePrefix("10.0.0.0/30")
	s := &model.Snapshot{
		Info:   []model.Info{{Datastore: "kdd", Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}},
		Pools:  []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/16"), BlockSize: 30}},
		Blocks: []model.Block{{Name: "10-0-0-0-30", CIDR: cidr, Length: 4, Free: []int32{1, 2, 3}, Held: []model.Slot{{0, 0}}, Attributes: []model.Attribute{{Handle: "h", Namespace: "shop", Pod: "web", Node: "n1"}}}},
	}
	for _, table := range model.Tables() {
		if !table.OfNode() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: table, State: model.Complete})
		}
	}
	blocks := answers{Rows: model.Snapshot{Blocks: s.Blocks}, Read: []model.Ref{s.Blocks[0].Ref(), {Kind: model.KindHandle, Name: "h"}}}
	pods := answers{Read: []model.Ref{{Kind: model.KindPod, Name: "shop/web"}}}
	rows, err := observe.NewRows(s)
	if err != nil {
		t.Fatal(err)
	}
	passes := make(chan Pass, 16)
	c := &Cluster{o: Options{Notice: func(string) {}}}
	f := &following{
		Cluster: c, selection: &selection{c: c}, each: func(p Pass) { passes <- p },
		series: audit.NewSeries(audit.Options{Detectors: []*detect.Detector{detect.PL1001}, Settle: 2 * time.Second}),
		src:    audit.Source{Adjust: c.adjust, Kubernetes: pods, Calico: blocks}, rows: rows, began: time.Now(), taken: model.At(time.Now()), //nolint:forbidigo // what a watch counts from
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // sooner than all is read again
	defer cancel()
	go func() { _ = f.loop(ctx, "guid", make(chan []observe.Change), make(chan error, 1)) }()
	for n, rereads := 0, 0; ; n++ {
		select {
		case p := <-passes:
			if p.Reread {
				rereads++
			}
			if (n == 0) == p.Reread || rereads > 4 {
				t.Fatalf("pass %d, reread %t", n, p.Reread)
			}
			if len(p.Findings) == 1 {
				return
			}
		case <-ctx.Done():
			t.Fatal("not confirmed")
		}
	}
}

// A judgement takes at most half of a core, and a cheap one is soon followed by another.
func TestPace(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0:                      shortestPause,
		10 * time.Millisecond:  shortestPause,
		100 * time.Millisecond: 1900 * time.Millisecond,
		time.Second:            5 * time.Second,
		2 * time.Second:        4 * time.Second,
		5 * time.Second:        5 * time.Second,
		8 * time.Second:        8 * time.Second,
	} {
		if got := restAfter(took); got != want {
			t.Errorf("after %s: rests %s, want %s", took, got, want)
		}
	}
}
