package ipammap_test

import (
	"os"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/ipammap"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

func judged(t *testing.T, world string, edit func(*model.Snapshot)) *audit.Report {
	t.Helper()
	text, err := os.ReadFile("../detect/testdata/" + world + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	c, err := snapshotio.ParseText(text, "findings", "skipped")
	if err != nil {
		t.Fatal(err)
	}
	edit(c.Snapshot)
	r := audit.Judge(t.Context(), c.Snapshot, audit.Source{}, audit.Options{Detectors: detect.All})
	for _, f := range r.Unconfirmed { // nothing is read again here
		f.State = finding.Confirmed
		r.Findings = append(r.Findings, f)
	}
	return r
}

// An address about which a finding is not confirmed yet is drawn neither as free nor as used.
func TestUnconfirmedIsNotFree(t *testing.T) {
	t.Parallel()
	r := judged(t, "PL1002", func(*model.Snapshot) {})
	before := ipammap.Of(r)
	for i := range r.Findings {
		r.Findings[i].State = finding.Unconfirmed
	}
	r.Unconfirmed, r.Findings = r.Findings, nil
	cells := func(m *ipammap.Map, letter string) (n int) {
		for _, p := range m.Pools {
			for _, b := range p.Blocks {
				n += strings.Count(b.Cells, letter)
			}
		}
		return n
	}
	if after := ipammap.Of(r); cells(after, "m") == 0 || cells(after, "n") != 0 || cells(after, "f") != cells(before, "f") {
		t.Errorf("%d are drawn as not confirmed, %d as unrecorded, %d as free (%d when confirmed)", cells(after, "m"), cells(after, "n"), cells(after, "f"), cells(before, "f"))
	}
}

// Each address has the letter of what is found about it, or of its record.
func TestLetters(t *testing.T) {
	t.Parallel()
	for world, letter := range map[string]string{"PL1001": "l", "PL1002": "n", "PL1003": "w", "PL2010": "d"} {
		r := judged(t, world, func(*model.Snapshot) {})
		m := ipammap.Of(r)
		drawn, held, want := 0, 0, map[string]bool{}
		for _, p := range m.Pools {
			for _, b := range p.Blocks {
				drawn += strings.Count(b.Cells, letter)
				held += len(b.Cells) - strings.Count(b.Cells, "f")
			}
		}
		for i := range r.Findings {
			if f := &r.Findings[i]; strings.HasPrefix(world, string(f.Code)) && f.Subject.Kind == model.KindAddress {
				want[f.Subject.Name] = true
			}
		}
		if drawn == 0 || drawn > len(want) || held < drawn {
			t.Errorf("%s: %d addresses with %s, %d held; findings about %v", world, drawn, letter, held, want)
		}
		if worst := ipammap.Worst(r, 5); len(worst) == 0 || worst[0].Count == 0 {
			t.Errorf("%s: %v", world, worst)
		}
	}
}

// Without pools and blocks there is an empty map, and a large block is drawn whole.
func TestEdges(t *testing.T) {
	t.Parallel()
	m := ipammap.Of(judged(t, "PL1001", func(s *model.Snapshot) { s.Pools, s.Blocks = nil, nil }))
	if m.Pools == nil || m.Nodes == nil || len(m.Pools) > 0 {
		t.Errorf("%+v", m)
	}
	large := ipammap.Of(judged(t, "PL1001", func(s *model.Snapshot) {
		b := &s.Blocks[0]
		p, err := b.CIDR.Addr().Prefix(20)
		if err != nil {
			t.Fatal(err)
		}
		b.CIDR, b.Held = p, []model.Slot{{4095, 0}}
		s.Blocks = s.Blocks[:1]
	}))
	cells := large.Pools[len(large.Pools)-1].Blocks
	for _, p := range large.Pools {
		if len(p.Blocks) > 0 {
			cells = p.Blocks
		}
	}
	if len(cells) != 1 || len(cells[0].Cells) != 4096 || cells[0].Cells[4095] == 'f' {
		t.Errorf("%d blocks of %d", len(cells), len(cells[0].Cells))
	}
}
