package audit

import (
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// How long a suspicion stands before it is looked at, and the longest pause before it is
// looked at again. What settles by itself within seconds is never looked at.
const (
	firstLook = 10 * time.Second
	lastPause = 5 * time.Minute
)

// A settling is how far a finding has come from suspicion to certainty.
type settling struct {
	raised model.Time // it stands as it is since then
	next   model.Time // when it is looked at; zero if looking tells nothing
	tries  int        // looks that decided nothing
	state  finding.State
	since  model.Time
	decide model.Time
	why    string
}

// begun is the settling of a finding that came up at a time.
func begun(f *finding.Finding, at model.Time) settling {
	s := settling{raised: at, state: finding.Unconfirmed}
	switch f.Class {
	case finding.Now:
		s.state, s.since = finding.Confirmed, f.Proven()
	case finding.Node:
		s.why = "only its node can prove it"
	default:
		s.next, s.why = at.Add(firstLook), "was not looked at again yet"
	}
	return s
}

// after gives the settling of a finding that was judged again.
func (s settling) after(old, now *finding.Finding, at model.Time) settling {
	if old.Same(now) && old.Class == now.Class && digestOf(old) == digestOf(now) {
		return s
	}
	return begun(now, at)
}

// as gives the finding with what is settled about it.
func (x *standing) as() finding.Finding {
	f := x.Finding
	f.State, f.Since, f.RecheckAfter, f.Why = x.state, x.since, x.decide, x.why
	return f
}

// settle takes what a second look said of a finding: seen is when that was, now when it
// began, nil that it was not seen again.
func (l *Live) settle(x *standing, looked *finding.Finding, seen, now model.Time) {
	k := x.Key()
	was := x.state
	defer func() { l.certain = l.certain || was == finding.Confirmed || x.state == finding.Confirmed }()
	if looked == nil {
		delete(l.memory, k)
		x.state, x.why = finding.Unconfirmed, "was not seen when it was looked at again"
		x.again(now)
		return
	}
	f := *looked
	f.State = finding.Unconfirmed
	own := Memory{}
	if s, ok := l.memory[k]; ok {
		own[k] = s
	}
	st := settler{now: now, fixed: l.opts.Settle, memory: own, gcGracePeriod: l.store.Grace(defaultGrace)}
	st.settle(&f)
	if s, ok := remember(own, []finding.Finding{*looked}, map[finding.Code]int{f.Code: 1}, nil, seen)[k]; ok {
		l.memory[k] = s
	} else {
		delete(l.memory, k)
	}
	x.state, x.since, x.decide, x.why = f.State, f.Since, f.RecheckAfter, f.Why
	switch {
	case f.State == finding.Confirmed, f.Class == finding.Node:
		x.next = 0
	case looked.Why != "":
		x.again(now)
	default:
		x.next = max(f.RecheckAfter, now.Add(time.Second))
	}
}

// again lets a finding be looked at later, and later each time.
func (x *standing) again(now model.Time) {
	pause := min(lastPause, firstLook<<min(x.tries, 10))
	x.tries++
	x.next = now.Add(pause)
	x.decide = x.next
}

// Due tells when the next suspicion is to be looked at; zero if none is.
func (l *Live) Due() model.Time {
	var at model.Time
	for _, x := range l.standing {
		if !x.next.IsZero() && (at.IsZero() || x.next < at) {
			at = x.next
		}
	}
	return at
}

// Hurry lets all that can be decided by looking be looked at now: a first look waits for
// nothing.
func (l *Live) Hurry(now model.Time) {
	for _, x := range l.standing {
		if !x.next.IsZero() {
			x.next = now
		}
	}
}

// Recall lets what earlier runs saw count.
func (l *Live) Recall(m Memory) {
	for k, s := range m {
		l.memory[k] = s
	}
}

// Memory is for the next run.
func (l *Live) Memory(now model.Time) Memory {
	out := Memory{}
	for k, s := range l.memory {
		if _, stands := l.standing[k]; stands || now.Sub(s.Last) < remembered {
			out[k] = s
		}
	}
	return out
}
