package shadow

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

const noon = model.Time(1_800_000_000)

var (
	address = netip.MustParseAddr("10.0.0.1")
	owner   = "k8s-pod-network." + strings.Repeat("a", 64)
	another = "k8s-pod-network." + strings.Repeat("b", 64)
)

// A world has one block, in which one address may be allocated, and one handle that may exist.
type world struct {
	allocated, handle string
	user              bool // a running pod has the address
	findings          []finding.Finding
	skipped           []detect.Skip
	gaps              []model.Coverage
	mass              []string
}

func (w world) report(at model.Time) *audit.Report {
	s := &model.Snapshot{Coverage: []model.Coverage{{Table: model.Blocks, State: model.Complete}, {Table: model.Handles, State: model.Complete}}}
	block := model.Block{Name: "10-0-0-0-29", CIDR: netip.MustParsePrefix("10.0.0.0/29"), Length: 8}
	if w.allocated != "" {
		block.Held, block.Attributes = []model.Slot{{1, 0}}, []model.Attribute{{Node: "n1", Handle: w.allocated}}
	}
	s.Blocks = []model.Block{block}
	s.Coverage = append(s.Coverage, model.Coverage{Table: model.Pods, State: model.Complete}, model.Coverage{Table: model.PodStatus, State: model.Complete})
	if w.user {
		s.Pods = []model.Pod{{Namespace: "shop", Name: "web", UID: "u", Node: "n1", Phase: model.Running, IPs: []netip.Addr{address}}}
	}
	if w.handle != "" {
		s.Handles = []model.Handle{{ID: w.handle, Name: w.handle, Revision: "1"}}
	}
	r := &audit.Report{View: model.Seal(s), Taken: at, Skipped: w.skipped, Gaps: w.gaps, MassChanges: w.mass}
	for _, f := range w.findings {
		if f.State == finding.Confirmed {
			r.Findings = append(r.Findings, f)
		} else {
			r.Unconfirmed = append(r.Unconfirmed, f)
		}
	}
	return r
}

func found(c finding.Code, kind model.Kind, name string) finding.Finding {
	return finding.Finding{Code: c, Subject: model.Ref{Kind: kind, Name: name}, State: finding.Confirmed, Since: noon - 600}
}

func TestOutcomes(t *testing.T) {
	leak, orphan := found(finding.PL1001, model.KindAddress, address.String()), found(finding.PL1006, model.KindHandle, owner)
	again := leak
	again.State = finding.Unconfirmed
	restored := found(finding.PL9006, model.KindCluster, "kubernetes")
	for name, c := range map[string]struct {
		began, then world
		want        string // Right, Wrong, open, or gone
	}{
		"freed by the collector":       {world{allocated: owner, findings: []finding.Finding{leak}}, world{}, "Right"},
		"freed, and given to another":  {world{allocated: owner, findings: []finding.Finding{leak}}, world{allocated: another}, "Right"},
		"freed, and in use":            {world{allocated: owner, findings: []finding.Finding{leak}}, world{user: true}, "Wrong"},
		"its pod turned up":            {world{allocated: owner, findings: []finding.Finding{leak}}, world{allocated: owner, user: true}, "Wrong"},
		"only not reported any more":   {world{allocated: owner, findings: []finding.Finding{leak}}, world{allocated: owner}, "open"},
		"too many events":              {world{allocated: owner, findings: []finding.Finding{leak}}, world{gaps: []model.Coverage{{Table: model.Events, State: model.Partial}}}, "Right"},
		"still there":                  {world{allocated: owner, findings: []finding.Finding{leak}}, world{allocated: owner, findings: []finding.Finding{leak}}, "open"},
		"in doubt":                     {world{allocated: owner, findings: []finding.Finding{leak}}, world{allocated: owner, findings: []finding.Finding{again}}, "open"},
		"not judged":                   {world{allocated: owner, findings: []finding.Finding{leak}}, world{allocated: owner, skipped: []detect.Skip{{Code: finding.PL1001, Why: "x"}}}, "open"},
		"its node is not read":         {world{allocated: owner, findings: []finding.Finding{leak}}, world{gaps: []model.Coverage{{Table: model.Attachments, Node: "n1", State: model.Lost}}}, "open"},
		"another node is not read":     {world{allocated: owner, findings: []finding.Finding{leak}}, world{gaps: []model.Coverage{{Table: model.Attachments, Node: "n2", State: model.Lost}}}, "Right"},
		"blocks are not read":          {world{allocated: owner, findings: []finding.Finding{leak}}, world{gaps: []model.Coverage{{Table: model.Blocks, State: model.Lost}}}, "open"},
		"a mass change":                {world{allocated: owner, findings: []finding.Finding{leak}}, world{mass: []string{"x"}}, "open"},
		"etcd was restored":            {world{allocated: owner, findings: []finding.Finding{leak}}, world{findings: []finding.Finding{restored}, mass: []string{"x"}}, "gone"},
		"the handle is gone":           {world{handle: owner, findings: []finding.Finding{orphan}}, world{}, "Right"},
		"the handle has an address":    {world{handle: owner, findings: []finding.Finding{orphan}}, world{handle: owner, allocated: owner}, "Wrong"},
		"the handle is as it was":      {world{handle: owner, findings: []finding.Finding{orphan}}, world{handle: owner, findings: []finding.Finding{orphan}}, "open"},
		"no container names the owner": {world{allocated: "vxlan-tunnel-addr-n1", findings: []finding.Finding{leak}}, world{}, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBook([]finding.Code{finding.PL1001, finding.PL1006}, 0)
			r := c.began.report(noon)
			b.decideAll(r)
			got := "open"
			for _, after := range []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute} {
				scored := b.Score(c.then.report(noon.Add(after)))
				if len(scored) > 0 && after < settled {
					t.Errorf("scored after %s", after)
				}
				for _, o := range scored {
					got = map[bool]string{true: "Right", false: "Wrong"}[o.Right]
					if o.Why == "" || o.Decided != noon || o.Scored != noon.Add(after) {
						t.Errorf("got %+v", o)
					}
				}
			}
			if got == "open" && len(b.open) == 0 {
				got = "gone"
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// decideAll decides about everything that it wants, by a plan that refuses nothing.
func (b *Book) decideAll(r *audit.Report) []finding.Finding {
	wants := b.Wants(r)
	p := &repair.Plan{}
	for i := range wants {
		p.Targets = append(p.Targets, repair.Target{Finding: wants[i].Key()})
	}
	b.Decide(r, wants, p)
	return wants
}

// A record that goes back and forth is not scored before it rests: etcd is restored, and that is known a minute later.
func TestAnOutcomeMustLast(t *testing.T) {
	leak := found(finding.PL1001, model.KindAddress, address.String())
	began := world{allocated: owner, findings: []finding.Finding{leak}}
	b := NewBook([]finding.Code{finding.PL1001}, 0)
	b.decideAll(began.report(noon))
	for i, w := range []world{{}, began, {}, began, {}} {
		if got := b.Score(w.report(noon.Add(time.Duration(i+1) * 2 * time.Minute))); len(got) > 0 {
			t.Fatalf("round %d: %+v", i, got)
		}
	}
	restored := found(finding.PL9006, model.KindCluster, "kubernetes")
	b.Score(world{findings: []finding.Finding{restored}}.report(noon.Add(11 * time.Minute)))
	if got := b.Score(world{}.report(noon.Add(time.Hour))); len(got) > 0 || len(b.open) > 0 {
		t.Errorf("after a restore: %+v, %d open", got, len(b.open))
	}
}

func TestWants(t *testing.T) {
	leak := found(finding.PL1001, model.KindAddress, address.String())
	w := world{allocated: owner, findings: []finding.Finding{leak}}
	for name, c := range map[string]struct {
		book *Book
		r    *audit.Report
		want int
	}{
		"old enough":     {NewBook([]finding.Code{finding.PL1001}, 10*time.Minute), w.report(noon), 1},
		"too young":      {NewBook([]finding.Code{finding.PL1001}, 11*time.Minute), w.report(noon), 0},
		"another code":   {NewBook([]finding.Code{finding.PL1006}, 0), w.report(noon), 0},
		"a mass change":  {NewBook([]finding.Code{finding.PL1001}, 0), world{allocated: owner, findings: w.findings, mass: []string{"x"}}.report(noon), 0},
		"wrong count":    {NewBook([]finding.Code{finding.PL1006}, 0), world{allocated: owner, handle: owner, findings: []finding.Finding{found(finding.PL1006, model.KindHandle, owner)}}.report(noon), 0},
		"missing handle": {NewBook([]finding.Code{finding.PL1006}, 0), world{findings: []finding.Finding{found(finding.PL1006, model.KindHandle, owner)}}.report(noon), 0},
	} {
		if got := c.book.decideAll(c.r); len(got) != c.want || len(c.book.open) != c.want {
			t.Errorf("%s: wants %d, %d open", name, len(got), len(c.book.open))
		}
	}
	b := NewBook([]finding.Code{finding.PL1001}, 0)
	b.decideAll(w.report(noon))
	if again := b.decideAll(w.report(noon + 60)); len(again) > 0 {
		t.Error("decided twice")
	}
}

// What a plan refuses is not decided.
func TestRefused(t *testing.T) {
	leak := found(finding.PL1001, model.KindAddress, address.String())
	r := world{allocated: owner, findings: []finding.Finding{leak}}.report(noon)
	b := NewBook([]finding.Code{finding.PL1001}, 0)
	why := b.Decide(r, b.Wants(r), &repair.Plan{Refused: []repair.Refusal{{Finding: leak.Key(), Why: "no agent on n1"}}})
	if why != "no agent on n1" || len(b.open) != 0 {
		t.Errorf("got %q, %d open", why, len(b.open))
	}
}

// The time in which nothing is believed does not count.
func TestBlockedTimeDoesNotCount(t *testing.T) {
	leak := found(finding.PL1001, model.KindAddress, address.String())
	b := NewBook([]finding.Code{finding.PL1001}, 0)
	b.decideAll(world{allocated: owner, findings: []finding.Finding{leak}}.report(noon))
	b.Score(world{}.report(noon.Add(time.Minute)))
	b.Score(world{mass: []string{"x"}}.report(noon.Add(5 * time.Minute)))
	if got := b.Score(world{}.report(noon.Add(10 * time.Minute))); len(got) > 0 {
		t.Errorf("scored at once: %+v", got)
	}
}
