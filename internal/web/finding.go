package web

import (
	"context"
	"html/template"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/ladder"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// A told finding is all that is known of one.
type told struct {
	*finding.Finding
	Ladders   []template.HTML
	More      int // pods whose ladder is not drawn
	Under     []row
	MoreUnder int
	Hidden    int    // under it, about pods that who asks may not list
	By        string // the finding that it is shown under
	Plan      *repair.Plan
	Unplanned bool // no plan was made in time
	Commands  []string
	Timeline  string // the pod whose timeline can be asked for
}

// mostLadders bounds the ladders of one page.
const mostLadders = 3

func (l *look) finding() (string, any, error) {
	f := l.named(l.q.Get("name"))
	if f == nil {
		return "", nil, l.absent(l.q.Get("name"))
	}
	t := &told{Finding: f}
	for _, r := range f.About {
		if r.Kind != model.KindPod {
			continue
		}
		if t.Timeline == "" && l.site.Timeline != nil && l.unlimited {
			t.Timeline = r.Name
		}
		pod := l.View.PodByName(splitPod(r.Name))
		if pod == nil {
			continue
		}
		if len(t.Ladders) == mostLadders {
			t.More++
			continue
		}
		svg, err := l.ladder(pod)
		if err != nil {
			return "", nil, err
		}
		t.Ladders = append(t.Ladders, svg)
	}
	for n, k := range f.Explains {
		if len(t.Under) == pageSize {
			t.MoreUnder = len(f.Explains) - n
			break
		}
		if u := l.named(k); u != nil {
			t.Under = append(t.Under, row{u, ""})
		} else if l.byKey()[k] != nil {
			t.Hidden++
		}
	}
	if by := l.by()[f.Key()]; by != "" && l.named(by) != nil {
		t.By = by
	}
	t.Commands = []string{l.Command("explain", f.Key())}
	if f.State == finding.Confirmed {
		t.Commands = append(t.Commands, l.Command("plan", f.Key(), "--save", "plan.yaml"))
		if l.site.Live { // a plan of a bundle is of then
			t.Commands = append(t.Commands, l.Command("apply", "-f", "plan.yaml"))
		}
		if l.site.Plan != nil && l.unlimited {
			t.Plan = l.plan(f)
			t.Unplanned = t.Plan == nil
		}
	}
	return "finding", t, nil
}

// planWithin bounds what a plan reads of the cluster, so that evidence is shown without it.
const planWithin = 5 * time.Second

// plan plans the repair of a finding; nil if that takes too long.
func (l *look) plan(f *finding.Finding) *repair.Plan {
	ctx, cancel := context.WithTimeout(l.r.Context(), planWithin)
	defer cancel()
	p := l.site.Plan(ctx, l.Report, []finding.Finding{*f})
	if ctx.Err() != nil { // it refuses what it could not read
		return nil
	}
	return p
}

// absent says of a name that is of no finding what that means.
func (l *look) absent(name string) missing {
	says := "No finding " + name + " in the last judgement: "
	if k, ok := finding.ParseKey(name); ok && audit.NotJudged(l.Skipped)[k.Code] {
		return missing(says + "it was not checked this time, or not everywhere.")
	}
	return missing(says + "it is resolved, or never was, or is about a pod that you may not list.")
}

// ladder draws the ladder of a pod, with what who asks may see.
func (l *look) ladder(pod *model.Pod) (template.HTML, error) {
	who := ladder.Viewer{Sees: l.sees, May: l.may}
	return ladder.Of(l.Report, pod, who).Inline(func(f *finding.Finding) string { return "finding?" + query("name", f.Key()) })
}

func splitPod(name string) (namespace, pod string) {
	namespace, pod, _ = strings.Cut(name, "/")
	return namespace, pod
}

func namespaceOf(name string) string {
	ns, _ := splitPod(name)
	return ns
}
