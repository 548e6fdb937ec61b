package audit_test

import (
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A garbage collector that has not released an address for three of its grace periods hangs; one that
// is off does not.
func TestFrozenCollector(t *testing.T) {
	t.Parallel()
	first := judge(t, leak(base()), audit.Source{}, audit.Options{})
	for name, c := range map[string]struct {
		later  model.Time
		change func(*model.Snapshot)
		keep   finding.Code
		want   []string
	}{
		"may just have been restarted": {later: 2699, want: []string{"PL1001/10.0.0.1"}},
		"hangs":                        {later: 2700, want: []string{"PL5002/kube-controllers/behind", "PL1001/10.0.0.1"}},
		"a longer grace period":        {later: 2700, change: func(s *model.Snapshot) { s.Collector[0].LeakGracePeriod = 1000 }, want: []string{"PL1001/10.0.0.1"}},
		"is off":                       {later: 9000, change: func(s *model.Snapshot) { s.Collector[0].LeakGracePeriod = 0 }, want: []string{"PL1001/10.0.0.1"}},
		"not asked for":                {later: 2700, keep: finding.PL1001, want: []string{"PL1001/10.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := leak(base())
			s.Collector = []model.GarbageCollectorConfig{{LeakGracePeriod: 900}}
			if c.change != nil {
				c.change(s)
			}
			s.Meta.Taken = now + c.later
			o := audit.Options{Recall: func(string) audit.Memory { return first.Memory }}
			if c.keep != "" {
				o.Keep = func(f *finding.Finding) bool { return f.Code == c.keep }
			}
			if r := judge(t, s, audit.Source{}, o); !slices.Equal(names(r.Findings), c.want) {
				t.Errorf("%v, want %v", names(r.Findings), c.want)
			}
		})
	}
}
