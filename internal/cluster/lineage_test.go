package cluster

import (
	"strconv"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A reading is a snapshot in which pods were read at one revision, and blocks at another.
func read(at model.Time, pods, blocks uint64, datastore string) *model.Snapshot {
	return &model.Snapshot{
		Meta: model.Meta{GUID: "g", Taken: at}, Info: []model.Info{{GUID: "g", Datastore: datastore}},
		Coverage: []model.Coverage{
			{Table: model.Pods, State: model.Complete, Revision: strconv.FormatUint(pods, 10)},
			{Table: model.Blocks, State: model.Complete, Revision: strconv.FormatUint(blocks, 10)},
			{Table: model.Links, Node: "n1", State: model.Complete, Revision: "1"},
		},
	}
}

func TestLineageOfACluster(t *testing.T) {
	const day = model.Time(1_800_000_000)
	later := day.Add
	for name, c := range map[string]struct {
		first, second *model.Snapshot
		same          bool // process
		want          []string
	}{
		"grows":                         {first: read(day, 100, 100, "kdd"), second: read(later(time.Hour), 200, 200, "kdd")},
		"went back":                     {first: read(day, 200, 200, "kdd"), second: read(later(time.Hour), 100, 100, "kdd"), want: []string{"kubernetes"}},
		"went back, same process":       {first: read(day, 200, 200, "kdd"), second: read(later(time.Second), 100, 100, "kdd"), same: true, want: []string{"kubernetes"}},
		"Calico's etcd":                 {first: read(day, 100, 200, "etcd"), second: read(later(time.Hour), 150, 100, "etcd"), want: []string{"calico"}},
		"the API server's alone":        {first: read(day, 200, 100, "etcd"), second: read(later(time.Hour), 100, 150, "etcd"), want: []string{"kubernetes"}},
		"both":                          {first: read(day, 200, 200, "etcd"), second: read(later(time.Hour), 100, 150, "etcd"), want: []string{"kubernetes", "calico"}},
		"a long time":                   {first: read(day, 1_000_000, 1, "kdd"), second: read(later(40*24*time.Hour), 900_000_000, 2, "kdd")},
		"migrated":                      {first: read(day, 200, 200, "etcd"), second: read(later(time.Hour), 250, 100, "kdd")},
		"an etcd of their own for pods": {first: read(day, 100, 900, "kdd"), second: read(later(time.Hour), 150, 950, "kdd")},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Options{StateDir: t.TempDir()}
			l := newLineage(o)
			l.compare("s", c.first)
			if err := l.keep(o); err != nil {
				t.Fatal(err)
			}
			if len(c.first.Info[0].Restored) > 0 {
				t.Fatalf("nothing was remembered, and got %+v", c.first.Info[0].Restored)
			}
			if !c.same {
				l = newLineage(o)
			}
			for range 2 { // it is said again and again
				l.compare("s", c.second)
				var got []string
				for _, r := range c.second.Info[0].Restored {
					got = append(got, r.Store)
				}
				if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
					t.Errorf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}

// A watch brings what is newer than the list that it began with.
func TestLineageFollows(t *testing.T) {
	l := newLineage(&Options{})
	followed := read(1_800_000_000, 100, 100, "kdd")
	followed.Pods = []model.Pod{{Revision: "300"}, {Revision: "x"}}
	l.compare("s", followed)
	followed = read(1_800_000_030, 100, 100, "kdd") // the newest pod is deleted
	if l.compare("s", followed); len(followed.Info[0].Restored) > 0 {
		t.Errorf("a deleted pod: %+v", followed.Info[0].Restored)
	}
	again := read(1_800_000_060, 200, 200, "kdd")
	if l.compare("s", again); len(again.Info[0].Restored) != 1 || again.Info[0].Restored[0].From != 300 {
		t.Errorf("got %+v", again.Info[0].Restored)
	}
}

// A run that has read earlier and ends later is not taken for one of a restored cluster, and it must not make the other one forget how far it had come.
func TestLineageKeepsTheHighest(t *testing.T) {
	o := &Options{StateDir: t.TempDir()}
	slow, quick := newLineage(o), newLineage(o)
	first := read(1_800_000_000, 100, 100, "kdd")
	quick.compare("s", read(1_800_000_030, 200, 200, "kdd"))
	for _, l := range []*lineage{quick, slow} {
		if l == slow {
			if slow.compare("s", first); len(first.Info[0].Restored) > 0 {
				t.Error("it looks restored")
			}
		}
		if err := l.keep(o); err != nil {
			t.Fatal(err)
		}
	}
	if got := o.recallRevisions("g").Of[model.Pods].Revision; got != 200 {
		t.Errorf("got %d, want 200", got)
	}
}

// Nothing is compared with another API server that has the same GUID: a clone of the cluster.
func TestLineageOfAClone(t *testing.T) {
	o := &Options{StateDir: t.TempDir()}
	l := newLineage(o)
	l.compare("https://production", read(1_800_000_000, 200, 200, "kdd"))
	if err := l.keep(o); err != nil {
		t.Fatal(err)
	}
	clone := read(1_800_003_600, 100, 100, "kdd")
	if newLineage(o).compare("https://clone", clone); len(clone.Info[0].Restored) > 0 {
		t.Errorf("got %+v", clone.Info[0].Restored)
	}
}

// A table that does not change while others do must not look bumped when it is listed again after a month, nor a datastore
// that was restored look restored again by a table that was not read then.
func TestLineageOfQuietTables(t *testing.T) {
	l := newLineage(&Options{})
	const month = 30 * 24 * time.Hour
	first := model.Time(1_800_000_000)
	l.compare("s", read(first, 1_000_000, 1_000_000, "kdd"))
	for d := time.Duration(0); d < month; d += time.Hour { // blocks do not change
		s := read(first.Add(d), 1_000_000, 1_000_000, "kdd")
		s.Pods = []model.Pod{{Revision: strconv.FormatInt(1_000_000+int64(d/time.Second)*40, 10)}}
		l.compare("s", s)
	}
	again := read(first.Add(month+time.Minute), 104_680_000, 104_680_000, "kdd")
	if l.compare("s", again); len(again.Info[0].Restored) > 0 {
		t.Errorf("listed again: %+v", again.Info[0].Restored)
	}
	back := read(first.Add(month+time.Hour), 90_000_000, 90_000_000, "kdd")
	back.Coverage[1].State = model.Lost // blocks could not be read then
	if l.compare("s", back); len(back.Info[0].Restored) != 1 {
		t.Fatalf("got %+v", back.Info[0].Restored)
	}
	days := read(first.Add(month+48*time.Hour), 91_000_000, 91_000_000, "kdd")
	if l.compare("s", days); len(days.Info[0].Restored) > 0 {
		t.Errorf("two days later: %+v", days.Info[0].Restored)
	}
}

// What an earlier leader noticed holds for a day, as what was noticed here does.
func TestLineageTakesOver(t *testing.T) {
	t.Parallel()
	noticed := model.Restored{Store: model.StoreCalico, Since: 1_800_000_000}
	l := newLineage(&Options{Restored: []model.Restored{noticed}})
	for after, want := range map[model.Time]int{600: 1, model.RestoredFor - 1: 1, model.RestoredFor + 1: 0} {
		s := &model.Snapshot{Meta: model.Meta{GUID: "g", Taken: noticed.Since + after}, Info: []model.Info{{Datastore: "etcd"}}}
		l.compare("https://a", s)
		if got := s.Info[0].Restored; len(got) != want || want == 1 && got[0] != noticed {
			t.Errorf("after %d s: %+v", after, got)
		}
	}
}
