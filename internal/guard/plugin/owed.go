package plugin

import (
	"context"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// one does what can be done about a DEL of the queue. Why it must wait is empty if it need
// not any more.
func (r *replay) one(ctx context.Context, l guard.QueuedDel) (why string) {
	s := &session{World: r.World, entry: r.entry, call: l.Call, as: guard.Enforce, db: r.db, began: r.Now(), replays: true}
	rest := false
	a := &answer{}
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprintf("the guard broke: %v", p)
			s.trouble("the guard broke", fmt.Errorf("%v", p))
		}
		if why == "" {
			s.trouble("take a DEL out of the queue", r.db.Replayed(l))
		} else {
			s.trouble("put off a DEL", r.db.Postpone(l, rest, r.now))
		}
		if why == "" || s.called || rest || l.Tries == 0 || len(s.event.Trouble) > 0 { // not each time that it waits
			s.log(a)
		}
	}()
	s.did("from the queue: %s", l.Why)
	s.complete()
	if why := s.resume(); why != "" {
		return why
	}
	if l.Rest {
		s.keyed = guard.ByName // what is left of it is found by name, whatever else was not
	}
	d, known, err := s.decide(ctx, guard.Replay)
	if err == nil && d.Forward {
		s.announce()
		d, known, err = s.decide(ctx, guard.Replay)
	}
	s.reach("replaying")
	switch {
	case err != nil:
		s.trouble("read the record", err)
		return err.Error()
	case d.Forward:
		why, a = r.forward(ctx, s, &d, known, l)
		return why
	case !d.Late:
		return d.Says
	case !l.Rest:
		r.deeds++
		d.Queue = false // it is
		if a = s.withhold(ctx, &d, known.Own); !a.ok() {
			return wrong(a)
		}
		rest = true
	case r.rests[s.call.Name()]:
		return "" // what is found by the name is one: another DEL waits for it
	}
	r.rests[s.call.Name()] = true
	return d.Says
}

// resume makes the call what a runtime's would be.
func (s *session) resume() (why string) {
	c := &s.call
	c.Verb, c.NetNS = guard.Del, ""
	if c.Network != s.entry.network {
		return fmt.Sprintf("it is of the network %q", c.Network)
	}
	for _, id := range []string{c.Container, c.IfName, c.Namespace, c.Pod, c.UID} {
		if strings.ContainsAny(id, ";=\x00") {
			return "it has a name that no runtime gives"
		}
	}
	if o := s.owned(); o != nil {
		if f, err := namespaceOf(o); err == nil {
			c.NetNS = o.NetNS
			_ = f.Close()
		}
	}
	path := lookup(s.Env, "CNI_PATH")
	env := []string{"PATH=" + lookup(s.Env, "PATH"), "CNI_PATH=" + path, "CNI_CONTAINERID=" + c.Container, "CNI_IFNAME=" + c.IfName, "CNI_NETNS=" + c.NetNS}
	args := "IgnoreUnknown=1"
	if c.Pod != "" {
		args += ";K8S_POD_NAMESPACE=" + c.Namespace + ";K8S_POD_NAME=" + c.Pod + ";K8S_POD_INFRA_CONTAINER_ID=" + c.Container
	}
	if c.UID != "" {
		args += ";K8S_POD_UID=" + c.UID
	}
	s.delegate = delegate{kind: s.entry.kind, path: path, env: append(env, "CNI_ARGS="+args)}
	return ""
}

// forward has the DEL done. That there is nothing to delete is as good as done.
func (r *replay) forward(ctx context.Context, s *session, d *guard.Decision, known guard.Known, l guard.QueuedDel) (why string, a *answer) {
	if !r.db.IsQueued(l) {
		return "", &answer{} // it was added again since: it owes nothing
	}
	r.deeds++
	a = s.careful(ctx, d, known)
	s.reach("replayed")
	if a.ok() || a.trouble == nil && delegateError(a).Fault() == guard.NoEndpoint {
		s.gone(known.Own)
		return "", a
	}
	return wrong(a), a
}

// careful leaves alone what is found by the pod's name. A runtime's DEL comes while its pod
// is here; ours comes later, and the pod of that name may live on another node by then, of
// which nobody here knows. What stays is for check to find.
func (s *session) careful(ctx context.Context, d *guard.Decision, known guard.Known) *answer {
	switch s.goesBy(ctx) {
	case guard.ByName:
		s.did("left alone what is found by name: the pod may live elsewhere")
		return &answer{}
	case guard.ByBoth:
		a := s.unnamed(ctx)
		if a.ok() {
			s.did("released what is the container's")
		}
		return a
	default:
		return s.confirmed(ctx, d, known.Newest)
	}
}
