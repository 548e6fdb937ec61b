package audit

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// frozenAfter is how many grace periods a leak may last before the IPAM garbage collector must have
// released it: it counts from its own start, and may have been restarted meanwhile.
const frozenAfter = 3

// behind is the subject of what the IPAM garbage collector should have released.
var behind = model.Ref{Kind: model.KindCollector, Name: "kube-controllers/behind"}

// frozenCollector reports that the IPAM garbage collector does not release what it is there for:
// addresses of pods that are gone, on nodes that exist, long after its grace period. Its process may
// be ready all the same (calico#7839, calico#8643). It returns nil if there is nothing to report.
func frozenCollector(r *Report, fs []finding.Finding) *finding.Finding {
	c, ok := r.View.Collector()
	grace := time.Duration(c.LeakGracePeriod) * time.Second
	if _, judged := r.Judged[finding.PL5002]; !judged || !ok || grace <= 0 {
		return nil // it is off, or may be
	}
	if _, judged := r.Judged[finding.PL1001]; !judged {
		r.Skipped = append(r.Skipped, detect.Skip{Code: finding.PL5002, Why: "whether it releases leaked addresses is judged with PL1001 only", OutOfScope: true})
		return nil
	}
	f := &finding.Finding{
		Code: finding.PL5002, Severity: finding.Warning, Class: finding.Leak, Subject: behind, State: finding.Confirmed,
		About: []model.Ref{behind},
	}
	n := 0
	for i := range fs {
		if !collectable(r.View, &fs[i]) || r.Taken.Sub(fs[i].Since) < frozenAfter*grace {
			continue
		}
		if n++; n <= 3 {
			f.Evidence = append(f.Evidence, fs[i].Evidence[0])
		}
		if f.Since.IsZero() || fs[i].Since < f.Since {
			f.Since = fs[i].Since
		}
	}
	if n == 0 {
		return nil
	}
	what := fmt.Sprintf("%d addresses of pods that are gone", n)
	if n == 1 {
		what = "1 address of a pod that is gone"
	}
	f.Summary = fmt.Sprintf("has not released %s for more than %s, %d times its grace period: it hangs, or does not run", what, frozenAfter*grace, frozenAfter)
	return f
}

// collectable reports whether a finding is a leak that the garbage collector releases: it says of
// pods that they are gone, and removes their addresses.
func collectable(v *model.View, f *finding.Finding) bool {
	if f.Code != finding.PL1001 || f.State != finding.Confirmed || f.Class != finding.Leak || f.Since.IsZero() || v.NodeByName(f.Node) == nil {
		return false
	}
	for _, e := range f.Evidence {
		if e.Ref.Kind == model.KindPod {
			ns, name, _ := strings.Cut(e.Ref.Name, "/")
			return v.PodByName(ns, name) == nil
		}
	}
	return false
}
