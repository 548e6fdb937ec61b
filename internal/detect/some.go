package detect

import (
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// JudgeAs is Judge for a snapshot of a few rows, which alone do not tell what Calico does in
// the cluster. Each row is judged once, and in the order in which Run does it.
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

// DuePod is when a pod is judged otherwise although nothing changes: zero if never.
func DuePod(p *model.Pod) model.Time {
	if p.Deleted.IsZero() {
		return 0
	}
	return p.Deleted.Add(overdue + time.Second)
}

// DueEvent is the same of what was noted about a pod.
func DueEvent(e *model.Event) model.Time { return e.Last.Add(delFresh + time.Second) }
