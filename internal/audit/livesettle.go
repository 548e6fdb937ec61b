package audit

import (
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A new finding is reread after firstReread, so that what resolves within seconds costs no
// request. A reread that confirms nothing is repeated with growing pauses, at most lastPause.
const (
	firstReread = 10 * time.Second
	lastPause   = 5 * time.Minute
)

// A settling is the progress of one finding from unconfirmed to confirmed.
// Invariants: state Confirmed implies next == 0 and why == ""; class Node implies next == 0
// and state Unconfirmed.
type settling struct {
	raised model.Time    // the evidence is unchanged since then
	next   model.Time    // when the objects are reread; zero: never, or a reread is in progress
	tries  int           // number of rereads without result; determines the pause, see again
	state  finding.State // the following four are the finding's State, Since, RecheckAfter, Why
	since  model.Time
	decide model.Time
	why    string
}

// begun is the settling of a finding that is new, or whose evidence changed, at that time.
func begun(f *finding.Finding, at model.Time) settling {
	s := settling{raised: at, state: finding.Unconfirmed}
	switch f.Class {
	case finding.Now:
		s.state, s.since = finding.Confirmed, f.Proven()
	case finding.Node:
		s.why = "only its node can confirm it"
	default:
		s.next, s.why = at.Add(firstReread), "not reread yet"
	}
	return s
}

// after is the settling of a finding that was evaluated again: s if its evidence is
// unchanged, else a new one.
func (s settling) after(old, now *finding.Finding, at model.Time) settling {
	if old.Same(now) && old.Class == now.Class && digestOf(old) == digestOf(now) {
		return s
	}
	return begun(now, at)
}

// as returns the finding with its settled state.
func (x *standing) as() finding.Finding {
	f := x.Finding
	f.State, f.Since, f.RecheckAfter, f.Why = x.state, x.since, x.decide, x.why
	return f
}

// settle applies the result of a reread to a finding. reread is the finding as the reread
// found it, nil if it did not. now is when the reread began, seen when it ended: ages count
// up to now, and a first observation counts from seen, so neither makes an age too long.
//
// A finding that the reread did not find loses its observation and stays unconfirmed until a
// change of a row clears it. Afterwards next is zero if nothing more is to be reread.
func (l *Live) settle(x *standing, reread *finding.Finding, seen, now model.Time) {
	k := x.Key()
	was := x.state
	defer func() { l.certain = l.certain || was == finding.Confirmed || x.state == finding.Confirmed }()
	if reread == nil {
		delete(l.memory, k)
		x.state, x.why = finding.Unconfirmed, "not found when its objects were reread"
		x.again(now)
		return
	}
	f := *reread
	f.State = finding.Unconfirmed
	own := Memory{}
	if s, ok := l.memory[k]; ok {
		own[k] = s
	}
	st := settler{now: now, fixed: l.opts.Settle, memory: own, gcGracePeriod: l.store.Grace(defaultGrace)}
	st.settle(&f)
	if s, ok := remember(own, []finding.Finding{*reread}, map[finding.Code]int{f.Code: 1}, nil, seen)[k]; ok {
		l.memory[k] = s
	} else {
		delete(l.memory, k)
	}
	x.state, x.since, x.decide, x.why = f.State, f.Since, f.RecheckAfter, f.Why
	switch {
	case f.State == finding.Confirmed, f.Class == finding.Node:
		x.next = 0
	case reread.Why != "":
		x.again(now)
	default:
		x.next = max(f.RecheckAfter, now.Add(time.Second))
	}
}

// again schedules the next reread after a pause that doubles with each try, up to lastPause.
func (x *standing) again(now model.Time) {
	pause := min(lastPause, firstReread<<min(x.tries, 10))
	x.tries++
	x.next = now.Add(pause)
	x.decide = x.next
}

// Due is when the next finding is to be reread; zero if none is.
func (l *Live) Due() model.Time {
	var at model.Time
	for _, x := range l.standing {
		if !x.next.IsZero() && (at.IsZero() || x.next < at) {
			at = x.next
		}
	}
	return at
}

// Hurry makes every finding that waits for a reread due now.
func (l *Live) Hurry(now model.Time) {
	for _, x := range l.standing {
		if !x.next.IsZero() {
			x.next = now
		}
	}
}

// Recall adds the observations of earlier runs.
func (l *Live) Recall(m Memory) {
	for k, s := range m {
		l.memory[k] = s
	}
}

// Memory returns the observations for the next run.
func (l *Live) Memory(now model.Time) Memory {
	out := Memory{}
	for k, s := range l.memory {
		if _, stands := l.standing[k]; stands || now.Sub(s.Last) < remembered {
			out[k] = s
		}
	}
	return out
}
