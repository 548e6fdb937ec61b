package capacity

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestForecast(t *testing.T) {
	t.Parallel()
	h := NewHistory()
	p := Pool{Name: "a", Addresses: 10_000}
	if _, _, ok := h.Empty(&p); ok {
		t.Error("a forecast from nothing")
	}
	note := func(at time.Duration, used, leaked int) {
		p.Used, p.Leaked, p.Free = used, leaked, p.Addresses-used-leaked
		h.Note(at, []Pool{p})
	}
	// 60 an hour, 10 of them leaked.
	for m := 0; m <= 120; m += 2 {
		note(time.Duration(m)*time.Minute, 1000+m*50/60, m*10/60)
	}
	in, more, ok := h.Empty(&p)
	if want := float64(p.Free) / 60 * 3600; !ok || math.Abs(in.Seconds()-want) > want/20 {
		t.Errorf("empty in %s, %t; want %.0f s", in, ok, want)
	}
	if want := float64(p.Leaked) / 60 * 3600; math.Abs(more.Seconds()-want) > want/20+60 {
		t.Errorf("%s more, want %.0f s", more, want)
	}
	if _, ok := h.Growth("a", Long); ok {
		t.Error("two hours say nothing about a week")
	}
	// What shrinks is never empty.
	for m := 130; m < 1200; m += 10 {
		note(time.Duration(m)*time.Minute, 1000-m/10, 0)
	}
	if in, _, ok := h.Empty(&p); ok {
		t.Errorf("it shrinks, and is empty in %s", in)
	}
	// A pool that is gone is forgotten, and the history is bounded.
	h.Note(1300*time.Minute, []Pool{{Name: "b"}})
	if len(h.pools) != 1 {
		t.Errorf("%v", h.pools)
	}
	for m := range 5000 {
		h.Note(time.Duration(1300+10*m)*time.Minute, []Pool{{Name: "b", Used: m}})
	}
	if n := len(h.pools["b"]); n > int(Long/every) {
		t.Errorf("%d samples", n)
	}
	if g, ok := h.Growth("b", Long); !ok || math.Abs(g*600-1) > 1e-6 {
		t.Errorf("grows by %f, %t", g*600, ok)
	}
}

// A pool whose use is constant does not grow, at whatever times it is noted, nor does one with an address in three days.
func TestConstantUse(t *testing.T) {
	t.Parallel()
	for _, step := range []int{0, 1} {
		for seed := range uint64(200) {
			random := rand.New(rand.NewPCG(seed, 1))
			h, p := NewHistory(), Pool{Name: "a", Addresses: 10_000, Free: 9_000}
			var at time.Duration
			for at < 7*day {
				p.Used = 997 + step*int(at/(3*day))
				h.Note(at, []Pool{p})
				at += 10*time.Minute + time.Duration(random.IntN(600_000))*time.Millisecond
			}
			if g, ok := h.Growth("a", Long); !ok || step == 0 && g != 0 {
				t.Fatalf("%d: grows by %g, %t", seed, g, ok)
			}
			if f := h.Forecasts([]Pool{p}); len(f) > 0 {
				t.Fatalf("%d, step %d: %+v", seed, step, f)
			}
		}
	}
}

// A pool that nobody can fill has no end.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	h := NewHistory()
	p := Pool{Name: "six", Addresses: Many, Free: Many}
	for m := range 20 {
		p.Used += 100
		h.Note(time.Duration(m)*10*time.Minute, []Pool{p})
	}
	if in, _, ok := h.Empty(&p); ok {
		t.Errorf("empty in %s", in)
	}
}
