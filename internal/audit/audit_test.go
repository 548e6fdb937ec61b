package audit_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const now = model.Time(1_800_000_000)

// base is a cluster in CRD mode with one node and one pod that runs with 10.0.0.1.
func base() *model.Snapshot {
	ip, cidr := netip.MustParseAddr("10.0.0.1"), netip.MustParsePrefix("10.0.0.0/30")
	s := &model.Snapshot{
		Meta:      model.Meta{Schema: 1, GUID: "g", Taken: now},
		Info:      []model.Info{{Datastore: "kdd", Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}},
		Collector: []model.GarbageCollectorConfig{{LeakGracePeriod: 900}},
		Nodes:     []model.Node{{Name: "n1", Ready: true}},
		Pools:     []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/16"), BlockSize: 30}},
		Pods: []model.Pod{{
			Namespace: "shop", Name: "web", UID: "u", Node: "n1", Phase: model.Running, Ready: true, Written: now - 3600,
			IPs: []netip.Addr{ip}, Annotation: model.Written, Annotated: []netip.Addr{ip}, ContainerID: containerOf("web"),
		}},
		Blocks: []model.Block{{
			Name: "10-0-0-0-30", CIDR: cidr, Affinity: "host:n1", Length: 4, Held: []model.Slot{{1, 0}}, Free: []int32{0, 2, 3}, Sequence: 9, Written: now - 3600,
			Attributes: []model.Attribute{{Handle: "k8s-pod-network." + containerOf("web"), Namespace: "shop", Pod: "web", Node: "n1"}},
		}},
		Handles:    []model.Handle{{ID: "k8s-pod-network." + containerOf("web"), Blocks: []model.BlockCount{{CIDR: cidr, Count: 1}}, Written: now - 3600}},
		Affinities: []model.Affinity{{Node: "n1", Type: "host", CIDR: cidr, State: "confirmed", Labelled: true, Written: now - 3600}},
	}
	for _, t := range model.Tables() {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	return s
}

func leak(s *model.Snapshot) *model.Snapshot { s.Pods = nil; return s }

func free(s *model.Snapshot) *model.Snapshot {
	b := &s.Blocks[0]
	b.Held, b.Attributes, b.Free = nil, nil, []int32{0, 2, 3, 1}
	s.Handles = nil
	return s
}

func names(fs []finding.Finding) []string {
	var out []string
	for i := range fs {
		out = append(out, fs[i].Key())
	}
	return out
}

func judge(t *testing.T, s *model.Snapshot, src audit.Source, o audit.Options) *audit.Report {
	t.Helper()
	o.Detectors = detect.All
	return audit.Judge(t.Context(), s, src, o)
}

func TestAgeMustBeProven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(*model.Snapshot)
		confirmed bool
		decide    model.Time
	}{
		"unchanged for an hour":          {func(*model.Snapshot) {}, true, 0},
		"the block was written just now": {func(s *model.Snapshot) { s.Blocks[0].Written = now - 119 }, false, now + 1},
		"the pod was written just now":   {func(s *model.Snapshot) { s.Pods[0].Written = now - 10 }, false, now + 110},
		"exactly two minutes":            {func(s *model.Snapshot) { s.Blocks[0].Written = now - 120 }, true, 0},
		"no time of the block":           {func(s *model.Snapshot) { s.Blocks[0].Written = 0 }, false, now + 120},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := free(base())
			c.change(s)
			r := judge(t, s, audit.Source{}, audit.Options{})
			got := r.Unconfirmed
			if c.confirmed {
				got = r.Findings
			}
			if !slices.Equal(names(got), []string{"PL1002/10.0.0.1"}) || r.RecheckAfter() != c.decide {
				t.Errorf("findings %v, unconfirmed %v, recheck after %v", names(r.Findings), names(r.Unconfirmed), r.RecheckAfter())
			}
		})
	}
}

// A leak has no time of its own: only the observation of an earlier run with the same
// evidence proves its age, and it stays unconfirmed while the IPAM garbage collector may
// still release it.
func TestMemoryProvesAge(t *testing.T) {
	t.Parallel()
	first := judge(t, leak(base()), audit.Source{}, audit.Options{})
	if len(first.Findings) > 0 || !slices.Equal(names(first.Unconfirmed), []string{"PL1001/10.0.0.1"}) || first.RecheckAfter() != now+1350 {
		t.Fatalf("first: %v, %v, %v", names(first.Findings), names(first.Unconfirmed), first.RecheckAfter())
	}
	recall := func(string) audit.Memory { return first.Memory }
	for name, c := range map[string]struct {
		later     model.Time
		change    func(*model.Snapshot)
		confirmed bool
	}{
		"too early":                {1349, func(*model.Snapshot) {}, false},
		"in time":                  {1350, func(*model.Snapshot) {}, true},
		"another allocation since": {5000, func(s *model.Snapshot) { s.Blocks[0].Sequences = []model.Sequence{{Ordinal: 1, Number: 8}} }, false},
		"the block was written":    {1350, func(s *model.Snapshot) { s.Blocks[0].Written, s.Blocks[0].Revision = now+1300, "7" }, true},
		"its node is silent":       {5000, func(s *model.Snapshot) { s.Nodes[0].Ready = false }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := leak(base())
			s.Meta.Taken = now + c.later
			c.change(s)
			r := judge(t, s, audit.Source{}, audit.Options{Recall: recall, Keep: func(f *finding.Finding) bool { return f.Code == finding.PL1001 }})
			if (len(r.Findings) == 1) != c.confirmed || len(r.Findings)+len(r.Unconfirmed) != 1 {
				t.Errorf("findings %v, unconfirmed %v", names(r.Findings), names(r.Unconfirmed))
			}
		})
	}
	// A run with other detectors keeps the observation.
	other := judge(t, leak(base()), audit.Source{}, audit.Options{Recall: recall, Keep: func(*finding.Finding) bool { return false }})
	if other.Memory["PL1001/10.0.0.1"] != first.Memory["PL1001/10.0.0.1"] {
		t.Errorf("forgotten: %v", other.Memory)
	}
	// The observation of a finding that is gone is dropped.
	if clean := judge(t, base(), audit.Source{}, audit.Options{Recall: recall}); len(clean.Memory) > 0 {
		t.Errorf("remembered: %v", clean.Memory)
	}
}

// looks returns one prepared reread after the other.
type looks struct {
	answers []observe.Reread
	err     error
	asked   int
}

func (l *looks) Reread(context.Context, []model.Ref) (observe.Reread, error) {
	l.asked++
	if l.err != nil || len(l.answers) == 0 {
		return observe.Reread{}, l.err
	}
	a := l.answers[0]
	if len(l.answers) > 1 {
		l.answers = l.answers[1:]
	}
	return a, nil
}

// owners and ledger are the rereads of Kubernetes and of Calico from a snapshot.
func owners(s *model.Snapshot) observe.Reread {
	return observe.Reread{
		Rows: model.Snapshot{Pods: s.Pods}, At: s.Meta.Taken.Time().Add(time.Second),
		Read: []model.Ref{{Kind: model.KindPod, Name: "shop/web"}, {Kind: model.KindAddress, Name: "10.0.0.1"}},
	}
}

func ipam(s *model.Snapshot) observe.Reread {
	return observe.Reread{Rows: model.Snapshot{Blocks: s.Blocks}, Read: []model.Ref{{Kind: model.KindBlock, Name: "10.0.0.0/30"}}}
}

func TestUnconfirmedAreReread(t *testing.T) {
	t.Parallel()
	changed := free(base())
	changed.Pods[0].UID = "another"
	gone := free(base())
	gone.Pods = nil
	for name, c := range map[string]struct {
		owners    []observe.Reread
		ledger    observe.Reread
		err       error
		confirmed []string
		suspected []string
	}{
		"still so":                     {[]observe.Reread{owners(free(base()))}, ipam(free(base())), nil, []string{"PL1002/10.0.0.1"}, nil},
		"it was only a moment":         {[]observe.Reread{owners(base())}, ipam(base()), nil, nil, nil},
		"the pod is gone":              {[]observe.Reread{owners(gone)}, ipam(free(base())), nil, nil, nil},
		"the pod changes under us":     {[]observe.Reread{owners(free(base())), owners(changed)}, ipam(free(base())), nil, nil, []string{"PL1002/10.0.0.1"}},
		"the pod goes while we look":   {[]observe.Reread{owners(free(base())), owners(gone)}, ipam(free(base())), nil, nil, []string{"PL1002/10.0.0.1"}},
		"it cannot be looked at again": {nil, ipam(free(base())), errors.New("away"), nil, []string{"PL1002/10.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := audit.Source{Kubernetes: &looks{answers: c.owners, err: c.err}, Calico: &looks{answers: []observe.Reread{c.ledger}}}
			r := judge(t, free(base()), src, audit.Options{})
			if !slices.Equal(names(r.Findings), c.confirmed) || !slices.Equal(names(r.Unconfirmed), c.suspected) {
				t.Errorf("findings %v, unconfirmed %v", names(r.Findings), names(r.Unconfirmed))
			}
		})
	}
	// A failed reread is no observation, and does not end an older one.
	older := audit.Memory{"PL1002/10.0.0.1": {Digest: "f", First: now - 50, Last: now - 40}}
	for _, memory := range []audit.Memory{nil, older} {
		away := &looks{err: errors.New("away")}
		r := judge(t, free(base()), audit.Source{Kubernetes: away, Calico: away}, audit.Options{Recall: func(string) audit.Memory { return memory }})
		if len(r.Memory) != len(memory) || r.Memory["PL1002/10.0.0.1"] != memory["PL1002/10.0.0.1"] {
			t.Errorf("remembered %v, want %v", r.Memory, memory)
		}
	}
	// A healthy cluster is read once.
	o := &looks{}
	if judge(t, base(), audit.Source{Kubernetes: o, Calico: o}, audit.Options{}); o.asked > 0 {
		t.Errorf("reread %d times without a finding", o.asked)
	}
}

func TestSuppressions(t *testing.T) {
	t.Parallel()
	valid := audit.Suppression{Code: "PL1002", Subject: "10.0.0.*", Reason: "known", Expires: now + 3600}
	r := judge(t, free(base()), audit.Source{}, audit.Options{Suppress: func() []audit.Suppression { return []audit.Suppression{valid} }})
	if len(r.Findings) != 0 || len(r.Suppressed) != 1 {
		t.Errorf("findings %v, suppressed %v", names(r.Findings), names(r.Suppressed))
	}
	over := valid
	over.Expires = now - 1
	r = judge(t, free(base()), audit.Source{}, audit.Options{Suppress: func() []audit.Suppression { return []audit.Suppression{over} }})
	if !slices.Equal(names(r.Findings), []string{"PL1002/10.0.0.1", "PL9004/PL1002/10.0.0.*"}) {
		t.Errorf("findings %v", names(r.Findings))
	}
	for name, bad := range map[string]audit.Suppression{
		"no code":   {Code: "PL0000", Subject: "x", Reason: "r", Expires: now + 1},
		"no reason": {Code: "PL1002", Subject: "x", Expires: now + 1}, "no date": {Code: "PL1002", Subject: "x", Reason: "r"},
		"two years": {Code: "PL1002", Subject: "x", Reason: "r", Expires: now + 2*366*86400}, "no subject": {Code: "PL1002", Reason: "r", Expires: now + 1},
		"bad glob": {Code: "PL1002", Subject: "[", Reason: "r", Expires: now + 1},
	} {
		if bad.Valid(now) == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := valid.Valid(now); err != nil {
		t.Error(err)
	}
}

func TestMassChange(t *testing.T) {
	t.Parallel()
	s := base()
	for i := range 60 {
		s.Handles = append(s.Handles, model.Handle{ID: "k8s-pod-network." + containerOf(string(rune('a'+i))), Written: now - 3600})
	}
	if r := judge(t, s, audit.Source{}, audit.Options{}); len(r.MassChanges) != 1 || len(r.Findings) != 60 {
		t.Errorf("%v, %d findings", r.MassChanges, len(r.Findings))
	}
	if r := judge(t, free(base()), audit.Source{}, audit.Options{}); len(r.MassChanges) != 0 {
		t.Errorf("%v", r.MassChanges)
	}
}

// A finding is folded under the one that explains it, but never a confirmed one under an
// unconfirmed one.
func TestFolding(t *testing.T) {
	t.Parallel()
	s := free(base())
	s.Nodes[0].Tunnels = []model.Tunnel{{Kind: "vxlan", IP: netip.MustParseAddr("10.0.0.1")}}
	r := judge(t, s, audit.Source{}, audit.Options{})
	if !slices.Equal(names(r.Findings), []string{"PL1002/10.0.0.1"}) || !slices.Equal(names(r.Unconfirmed), []string{"PL2010/10.0.0.1"}) {
		t.Fatalf("findings %v, unconfirmed %v", names(r.Findings), names(r.Unconfirmed))
	}
	s.Meta.Taken += 3600
	r = judge(t, s, audit.Source{}, audit.Options{Recall: func(string) audit.Memory { return r.Memory }})
	want := []string{"PL1002/10.0.0.1", "PL1008/10.0.0.1"}
	if !slices.Equal(names(r.Findings), []string{"PL2010/10.0.0.1"}) || !slices.Equal(r.Findings[0].Explains, want) {
		t.Errorf("an hour later: findings %v, which explain %v", names(r.Findings), r.Findings[0].Explains)
	}
}
