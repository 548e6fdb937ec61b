package timeline_test

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A seed is one of the write-ups, in pieces that can be replaced.
type seed struct {
	name   string
	year   int
	paste  *paste
	pieces []piece
}

func seedsInPieces(t *testing.T) []seed {
	t.Helper()
	var out []seed
	for name, year := range map[string]int{"000.txt": 2017, "001.txt": 2017, "004.txt": 2019} {
		text, err := os.ReadFile("records/testdata/seeds/" + name)
		if err != nil {
			t.Fatal(err)
		}
		p := pasted(string(text))
		out = append(out, seed{name, year, p, pieces(p.text, replaced)})
	}
	slices.SortFunc(out, func(a, b seed) int { return strings.Compare(a.name, b.name) })
	return out
}

// render writes a seed under a disguise: unwrapped, and as it was pasted.
func (s *seed) render(d *disguise) (whole, broken string) {
	d.year = s.year
	var w, b strings.Builder
	breaks, at := s.paste.breaks, 0
	for _, p := range s.pieces {
		fresh := d.of(p)
		w.WriteString(fresh)
		done := 0
		for len(breaks) > 0 && breaks[0].at <= at+len(p.text) {
			n := min(breaks[0].at-at, len(fresh))
			if p.kind == "" {
				n = breaks[0].at - at
			}
			b.WriteString(fresh[done:max(done, n)] + breaks[0].with)
			done, breaks = max(done, n), breaks[1:]
		}
		b.WriteString(fresh[done:])
		at += len(p.text)
	}
	return w.String(), b.String()
}

// judgedTexts gives all verdicts on texts, and the names by which their lines are found.
func judgedTexts(t *testing.T, texts map[string]string) ([]timeline.Verdict, []string) {
	t.Helper()
	names := slices.Sorted(maps.Keys(texts))
	var in []records.Input
	for _, name := range names {
		in = append(in, records.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(texts[name])), nil }})
	}
	return everyVerdict(told(t, in)), names
}

// told reads inputs into a log.
func told(t *testing.T, in []records.Input) *timeline.Log {
	t.Helper()
	l := timeline.NewLog()
	files, err := records.All(t.Context(), in, records.Options{
		Now: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC), Wants: parse.Wants,
		Parser: func(_ uint16, f *timeline.File) func(*records.Record) { return parse.New(f, l.Add).Parse },
	})
	if err != nil {
		t.Fatal(err)
	}
	l.SetFiles(files)
	return l
}

// everyVerdict gives all that a log's lines prove or make likely, as the CLI lists it.
func everyVerdict(l *timeline.Log) []timeline.Verdict {
	all := slices.Concat(timeline.JudgeAddresses(l), timeline.JudgeListings(l), timeline.JudgeNodes(l))
	l.Stories(func(s *timeline.Story) bool {
		timeline.Judge(s)
		all = append(all, s.Verdicts...)
		return true
	})
	return all
}

// A mapping says under which names, times and lines a verdict must be found again.
type mapping struct {
	words func(string) string
	shift time.Duration
	line  func(file string, line uint32) uint32
}

// all writes verdicts out in full.
func (m mapping) all(verdicts []timeline.Verdict, files []string) []string {
	moved := func(at time.Time) string {
		if at.IsZero() {
			return "-"
		}
		return at.Add(m.shift).UTC().Format(time.RFC3339Nano)
	}
	var out []string
	for i := range verdicts {
		v := &verdicts[i]
		var where []string
		for _, p := range v.Lines {
			where = append(where, fmt.Sprintf("%s:%d", files[p.File], m.line(files[p.File], p.Line)))
		}
		out = append(out, fmt.Sprintf("%s: %s [%s] on %s at %s until %s, %d times, %s of %s lost %q, %s to %s, %q, error %.100q, not shown %q, lines %q",
			m.words(v.Pod), v.Cause, v.Certainty, m.words(v.Node), moved(v.At), moved(v.Until), v.Count, m.words(v.Culprit), m.words(v.Victim), v.Lost,
			m.words(v.Was.String()), m.words(v.Is.String()), m.words(v.Says), m.words(v.Error), m.words(strings.Join(v.NotShown, "; ")), where))
	}
	slices.Sort(out)
	return out
}

var unchanged = mapping{words: func(s string) string { return s }, line: func(_ string, line uint32) uint32 { return line }}

// newDisguise makes one by a number. Some move the middle of a story to the end of a month
// or a year.
func newDisguise(n uint64, around []time.Time) *disguise {
	rng := rand.New(rand.NewPCG(n, 6))
	zone := time.FixedZone("TST", (rng.IntN(12*4+13*4)-11*4)*900)
	d := &disguise{rng: rng, by: map[string]string{}, ids: map[string]string{}, zone: zone}
	d.shift = time.Duration(rng.IntN(8*365*24*3600)-4*365*24*3600) * time.Second
	month := time.Month(1 + rng.IntN(12))
	switch n % 3 {
	case 0:
		return d
	case 1:
		month = time.January
	}
	d.shift = time.Date(2014+rng.IntN(12), month, 1, 0, 0, 0, 0, zone).Sub(around[rng.IntN(len(around))])
	return d
}

// moments are those at which a month or a year is made to end: between the steps of a story.
var moments = []string{
	"2017-12-12 20:00:19", "2017-12-12 20:10:00", "2017-12-12 20:21:28", "2017-12-12 20:22:00", "2017-12-12 20:22:24", "2017-12-13 04:00:00",
	"2017-12-13 10:27:43", "2017-12-13 10:27:49", "2017-12-13 10:28:00", "2017-12-13 10:28:09", "2017-12-13 12:00:00",
	"2017-12-04 10:10:00", "2017-12-04 10:11:00", "2019-04-08 13:32:00", "2019-04-08 13:33:45",
}

// TestSeedsDisguised checks that nothing in the verdicts hangs on a name, an ID, an address,
// a time, or on where lines were broken: under any disguise, and pasted, whole or broken
// anew, the seeds have the very verdicts that they have as their author pasted them.
func TestSeedsDisguised(t *testing.T) {
	t.Parallel()
	all := seedsInPieces(t)
	original := map[string]string{}
	for i := range all {
		original[all[i].name] = all[i].paste.original
	}
	verdicts, files := judgedTexts(t, original)
	var around []time.Time
	for _, s := range moments {
		at, err := time.ParseInLocation("2006-01-02 15:04:05", s, china)
		if err != nil {
			t.Fatal(err)
		}
		around = append(around, at)
	}
	said := map[string][]piece{}
	disguises := uint64(60)
	if testing.Short() { // with the race detector
		disguises = 6
	}
	for n := range disguises {
		d := newDisguise(n, around)
		d.said = said
		for form, f := range forms(all, d) {
			got, names := judgedTexts(t, f.texts)
			want := mapping{d.words, d.shift, f.line}.all(verdicts, files)
			if got := unchanged.all(got, names); !slices.Equal(got, want) || strings.Contains(strings.Join(got, ""), "eyJ") {
				t.Errorf("disguise %d, %s:\n got  %s\n want %s", n, form, beyond(got, want), beyond(want, got))
			}
		}
		if t.Failed() {
			return
		}
	}
}

// beyond gives what one list has and another has not.
func beyond(some, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(some), func(s string) bool { return slices.Contains(others, s) }), "\n      ")
}

// A form is the seeds written in one way.
type form struct {
	texts map[string]string
	line  func(file string, line uint32) uint32 // where a line of the original stands
}

// forms writes the seeds under a disguise: as they were pasted, whole, and broken anew.
func forms(all []seed, d *disguise) map[string]form {
	asPasted, whole, anew := map[string]string{}, map[string]string{}, map[string]string{}
	lines, numbers := map[string][]uint32{}, map[string][]uint32{}
	width := 80 + d.rng.IntN(200)
	for i := range all {
		s := &all[i]
		text, broken := s.render(d)
		asPasted[s.name], whole[s.name], lines[s.name] = broken, unindented(text), s.paste.lines
		anew[s.name], numbers[s.name] = rewrapped(text, width, d.rng)
	}
	inWhole := func(file string, line uint32) uint32 { return lines[file][line-1] }
	return map[string]form{
		"as pasted":                        {asPasted, unchanged.line},
		"unwrapped":                        {whole, inWhole},
		fmt.Sprintf("broken at %d", width): {anew, func(file string, line uint32) uint32 { return numbers[file][inWhole(file, line)-1] }},
	}
}
