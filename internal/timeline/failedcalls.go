package timeline

import (
	"cmp"
	"slices"

	"plumbline.dev/plumbline/internal/cnierror"
)

// A FailedCalls counts CNI calls that failed for one reason.
type FailedCalls struct {
	Call  string `json:"call"`            // ADD or DEL
	Cause string `json:"cause,omitempty"` // empty if the plugin's words are of no known cause
	Count int    `json:"count"`           // at least: lines with and without a sandbox may be of the same call
	Pods  int    `json:"pods"`            // that lines name
}

// FailedCalls counts the CNI calls that failed, by call and cause, the most frequent first. They are what happened, whatever it
// means.
func (l *Log) FailedCalls() []FailedCalls {
	l.mu.Lock()
	x := l.indexed()
	l.mu.Unlock()
	type key struct{ call, cause string }
	type seen struct {
		sandboxes, pods map[uint32]bool
		nameless        int
	}
	all := map[key]*seen{}
	for n := l.events.first; n < l.events.end; n++ {
		p := l.events.at(n)
		k := key{call: "ADD"}
		switch p.kind {
		case AddFailed:
		case DelFailed, SandboxStopFailed:
			k.call = "DEL"
		default:
			continue
		}
		k.cause = cnierror.CauseOf(cnierror.OwnWords(string(l.texts.get(p.note)))).Says
		if all[k] == nil {
			all[k] = &seen{map[uint32]bool{}, map[uint32]bool{}, 0}
		}
		s := &x.subjects[p.subject]
		if s.pod != 0 {
			all[k].pods[s.pod] = true
		}
		if s.sandbox != 0 && k.call == "ADD" {
			all[k].sandboxes[s.sandbox] = true
		} else {
			all[k].nameless += max(1, int(p.count))
		}
	}
	out := make([]FailedCalls, 0, len(all))
	for k, s := range all {
		out = append(out, FailedCalls{k.call, k.cause, max(len(s.sandboxes), s.nameless), len(s.pods)})
	}
	slices.SortFunc(out, func(a, b FailedCalls) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Call, b.Call), cmp.Compare(a.Cause, b.Cause))
	})
	return out
}
