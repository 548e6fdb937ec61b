package daemon

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

// TestTimes: quantiles are never too short, and at most an eighth too long.
func TestTimes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var ts times
	var all []int64
	for range 5000 {
		ms := int64(r.ExpFloat64() * 400)
		all = append(all, ms)
		ts.add(ms, ms%10 == 0)
	}
	slices.Sort(all)
	for _, p := range []int{1, 50, 90, 99, 100} {
		exact := all[(len(all)*p+99)/100-1]
		if got := ts.quantile(p); got < exact || float64(got) > float64(exact)*1.125+1 {
			t.Errorf("p%d: %d, exactly %d", p, got, exact)
		}
	}
	for _, ms := range []int64{-5, 0, 15, 16, 17, 31, 32, 100_000, 1 << 62} {
		c := class(ms)
		if c < 0 || c >= buckets || ms < 1<<27 && longest(c) < ms || c > 0 && ms < 1<<27 && longest(c-1) >= ms {
			t.Errorf("%d is in class %d, up to %d", ms, c, longest(c))
		}
	}
	if none := (&times{}).told(); none != (guard.Times{}) {
		t.Errorf("%+v", none)
	}
}

func entry(t *testing.T, what string, at time.Time, e guard.Event) *eventlog.Entry {
	t.Helper()
	row, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return &eventlog.Entry{At: at, By: "guard", Of: "cni", What: what, Now: row}
}

func TestCount(t *testing.T) {
	t.Parallel()
	var c count
	c.withDefaults()
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	web, db := guard.Key{Container: "web"}, guard.Key{Container: "db"}
	for _, e := range []*eventlog.Entry{
		entry(t, "ADD", now, guard.Event{Key: web, Took: 100}),
		entry(t, "ADD", now, guard.Event{Key: db, Code: 1, Late: true}), // cleaned after: no DEL of a runtime's
		entry(t, "DEL", now, guard.Event{Key: web, Late: true, Called: true, Lost: []string{"all"}, Keyed: guard.NotKnown}),
		entry(t, "DEL", now, guard.Event{Key: web, Late: true, Keyed: guard.ByBoth}),
		entry(t, "DEL", now, guard.Event{Key: web, Rule: 11, Trouble: []string{"a"}}),
		entry(t, "REPLAY", now, guard.Event{Key: web, Lost: []string{"x"}, Called: true}),
		entry(t, "CHECK", now, guard.Event{Key: web}),
		{By: "agent", Of: "cni", What: "ADD", Now: []byte(`{}`)},
		{By: "guard", Of: "cni", What: "ADD", Now: []byte(`no`)},
	} {
		c.add(e)
	}
	for i := range 5 {
		c.add(entry(t, "DEL", now.Add(time.Duration(i)*time.Minute), guard.Event{Key: db, Pod: "db", Code: 7, Error: fmt.Sprintf("no %d", i)}))
		c.add(entry(t, "DEL", now, guard.Event{Key: guard.Key{Container: "ends"}, Code: i % 2}))
	}
	got := c.tally(now)
	if got.Adds.Count != 2 || got.Adds.Failed != 1 || got.Dels.Count != 13 || got.Late != 2 || got.Stopped != 1 || got.Lost != 2 || got.Succeeded != 1 || got.Open != 1 {
		t.Errorf("%+v", got)
	}
	if len(got.Endless) != 1 || got.Endless[0].Count != 5 || got.Endless[0].Pod != "db" || got.Endless[0].Error != "no 4" || !got.Endless[0].Since.Equal(now) {
		t.Errorf("%+v", got.Endless)
	}
	if late := c.tally(now.Add(2 * time.Hour)); len(late.Endless) != 0 {
		t.Errorf("still endless: %+v", late.Endless)
	}
	c.add(entry(t, "REPLAY", now, guard.Event{Key: db, Called: true}))
	if ended := c.tally(now); len(ended.Endless) != 0 {
		t.Errorf("%+v", ended.Endless)
	}
	for i := range 3 * maxFailing {
		c.add(entry(t, "DEL", now.Add(time.Duration(i)*time.Second), guard.Event{Key: guard.Key{Container: fmt.Sprint(i)}, Code: 1}))
	}
	if len(c.Failing) != maxFailing || c.Failing["\x00767\x00"] == nil {
		t.Errorf("%d are followed", len(c.Failing))
	}
}
