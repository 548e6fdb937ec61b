package detect_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var update = flag.Bool("update", false, "rewrite the expected findings of the fixtures")

// cases returns a loader for every fixture: each test needs its own snapshot, because Seal
// takes ownership of it.
func cases(t *testing.T) map[string]func() *snapshotio.Case {
	t.Helper()
	out := map[string]func() *snapshotio.Case{}
	err := filepath.WalkDir("testdata", func(p string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".txtar") {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		out[p] = func() *snapshotio.Case {
			c, err := snapshotio.ParseText(text, "findings", "skipped")
			if err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			return c
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every column of a fixture is one that rows have: a misspelt one is kept as that of a newer version, and tests nothing.
func TestFixturesHaveNoUnknownColumns(t *testing.T) {
	t.Parallel()
	for path, load := range cases(t) {
		unknown := map[string]bool{}
		extras(reflect.ValueOf(load().Snapshot).Elem(), unknown)
		if len(unknown) > 0 {
			t.Errorf("%s: %v", path, slices.Sorted(maps.Keys(unknown)))
		}
	}
}

// extras collects the columns that no row has.
func extras(v reflect.Value, into map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			extras(v.Elem(), into)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				extras(v.Index(i), into)
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if v.Type() == reflect.TypeFor[model.Extra]() {
				into[k.String()] = true
			} else {
				extras(v.MapIndex(k), into)
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanInterface() {
				extras(field, into)
			}
		}
	default:
	}
}

func lines(fs []finding.Finding) string {
	var out []string
	for i := range fs {
		out = append(out, fmt.Sprintf("%s %s %s: %s\n", fs[i].Severity, fs[i].Class, fs[i].Key(), fs[i].Summary))
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func TestFixtures(t *testing.T) {
	t.Parallel()
	for path, load := range cases(t) {
		t.Run(strings.TrimSuffix(path, ".txtar"), func(t *testing.T) {
			c := load()
			res := detect.Run(model.Seal(c.Snapshot), detect.All...)
			got := lines(res.Findings)
			wantSkips, tellsSkips := c.Expect["skipped"]
			gotSkips := ""
			if tellsSkips {
				gotSkips = skips(res.Skipped)
			}
			if *update {
				rewrite(t, path, got, gotSkips)
				return
			}
			if want := c.Expect["findings"]; got != want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.Comment, got, want)
			}
			if gotSkips != wantSkips {
				t.Errorf("%s\nskipped:\n%s\nwant:\n%s", c.Comment, gotSkips, wantSkips)
			}
		})
	}
}

// skips lists why detectors did not run, without those that need agents where there are none.
func skips(all []detect.Skip) string {
	codes := map[string][]string{}
	for _, s := range all {
		if !s.OutOfScope || s.Unknown {
			why := s.Why
			if s.NotApplicable {
				why = "not applicable: " + why
			}
			codes[why] = append(codes[why], string(s.Code))
		}
	}
	var out []string
	for why, codes := range codes {
		out = append(out, strings.Join(codes, " ")+": "+why+"\n")
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func rewrite(t *testing.T, path, got, skipped string) {
	t.Helper()
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(was), "-- findings --\n")
	text := head + "-- findings --\n" + got
	if skipped != "" {
		text += "-- skipped --\n" + skipped
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Subjects evaluated one by one, in any order, and rows in any order, give the same findings.
func TestOneByOne(t *testing.T) {
	t.Parallel()
	for path, load := range cases(t) {
		want := lines(detect.Run(model.Seal(load().Snapshot), detect.All...).Findings)
		rnd := rand.New(rand.NewPCG(1, 2))
		s := load().Snapshot
		shuffle(rnd, s)
		v := model.Seal(s)
		merged := map[string]finding.Finding{}
		for _, d := range detect.All {
			for _, sub := range subjects(rnd, v, d) {
				for _, f := range detect.Judge(v, []model.Subject{sub}, d).Findings {
					if before, ok := merged[f.Key()]; ok {
						before.Merge(&f)
						f = before
					}
					merged[f.Key()] = f
				}
			}
		}
		var all []finding.Finding
		for _, f := range merged {
			all = append(all, f)
		}
		if got := lines(all); stripSummaries(got) != stripSummaries(want) {
			t.Errorf("%s: one by one:\n%s\nall at once:\n%s", path, got, want)
		}
	}
}

// stripSummaries keeps severity, class and name: if several rows report a finding, the
// summary is that of the first.
func stripSummaries(s string) string {
	var out []string
	for l := range strings.Lines(s) {
		name, _, _ := strings.Cut(l, ": ")
		out = append(out, name)
	}
	return strings.Join(out, "\n")
}

func subjects(rnd *rand.Rand, v *model.View, d *detect.Detector) []model.Subject {
	var out []model.Subject
	seen := map[model.Subject]bool{}
	for _, t := range d.Each {
		for i := range v.Rows(t) {
			if s := (model.Subject{Table: t, Ref: v.RefOf(t, int32(i))}); !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func shuffle(rnd *rand.Rand, s *model.Snapshot) {
	rnd.Shuffle(len(s.Pods), func(i, j int) { s.Pods[i], s.Pods[j] = s.Pods[j], s.Pods[i] })
	rnd.Shuffle(len(s.Nodes), func(i, j int) { s.Nodes[i], s.Nodes[j] = s.Nodes[j], s.Nodes[i] })
	rnd.Shuffle(len(s.Blocks), func(i, j int) { s.Blocks[i], s.Blocks[j] = s.Blocks[j], s.Blocks[i] })
	rnd.Shuffle(len(s.Handles), func(i, j int) { s.Handles[i], s.Handles[j] = s.Handles[j], s.Handles[i] })
	rnd.Shuffle(len(s.Affinities), func(i, j int) { s.Affinities[i], s.Affinities[j] = s.Affinities[j], s.Affinities[i] })
	rnd.Shuffle(len(s.Endpoints), func(i, j int) { s.Endpoints[i], s.Endpoints[j] = s.Endpoints[j], s.Endpoints[i] })
	rnd.Shuffle(len(s.Services), func(i, j int) { s.Services[i], s.Services[j] = s.Services[j], s.Services[i] })
}
