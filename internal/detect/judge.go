package detect

import (
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// JudgeAs is Judge for a snapshot of a few rows, from which Recognise cannot detect what
// Calico does; the caller passes it. Each row is evaluated once, in the order of Run.
func JudgeAs(v *model.View, calico Calico, subjects []model.Subject, ds ...*Detector) Result {
	rows := map[model.Table][]int32{}
	for _, s := range subjects {
		rows[s.Table] = append(rows[s.Table], v.Find(s)...)
	}
	for t := range rows {
		slices.Sort(rows[t])
		rows[t] = slices.Compact(rows[t])
	}
	return run(v, calico, make(seatCache, v.Rows(model.Pods)), ds, func(t model.Table, judge func(int32)) {
		for _, row := range rows[t] {
			judge(row)
		}
	})
}

// DuePod is the time at which the result for a pod changes although no row changes; zero if
// there is none.
func DuePod(p *model.Pod) model.Time {
	if p.Deleted.IsZero() {
		return 0
	}
	return p.Deleted.Add(overdue + time.Second)
}

// DueEvent is the same for an event of a pod.
func DueEvent(e *model.Event) model.Time { return e.Last.Add(delFresh + time.Second) }
