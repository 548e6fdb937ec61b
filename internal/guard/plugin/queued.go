package plugin

import (
	"context"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// one carries out a queued DEL. An empty why means that the DEL is done or no longer
// needed; otherwise it is postponed.
func (r *replay) one(ctx context.Context, l guard.QueuedDel) (why string) {
	s := &session{World: r.World, entry: r.entry, call: l.Call, as: guard.Enforce, db: r.db, began: r.Now(), replays: true}
	rest := false
	a := &answer{}
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprintf("the guard panicked: %v", p)
			s.trouble("the guard panicked", fmt.Errorf("%v", p))
		}
		r.record(s, l, why, rest)
		if why == "" || s.called || rest || l.Tries == 0 || len(s.event.Trouble) > 0 { // do not log each time that it is postponed
			s.log(a)
		}
	}()
	s.did("queued DEL: %s", l.Why)
	s.complete()
	if why := s.resume(); why != "" {
		return why
	}
	if l.Rest {
		s.keyed = guard.ByName // only what is found by name is left
	}
	d, known, err := r.decide(ctx, s)
	s.reach("replaying")
	switch {
	case err != nil:
		s.trouble("read the ownership record", err)
		return err.Error()
	case d.Forward:
		why, a = r.forward(ctx, s, &d, known, l)
		return why
	case !d.Late:
		return d.Says
	case !l.Rest:
		r.deeds++
		d.Queue = false // it already is
		if a = s.withhold(ctx, &d, known.Own); !a.ok() {
			return wrong(a)
		}
		rest = true
	case r.rests[s.call.Name()]:
		return "" // one queued DEL per name is enough for what is found by name
	}
	r.rests[s.call.Name()] = true
	return d.Says
}

// record removes a DEL from the queue, or postpones it if there is a reason why. With rest only
// what is found by name is left of it.
func (r *replay) record(s *session, l guard.QueuedDel, why string, rest bool) {
	if why == "" {
		s.trouble("remove a DEL from the queue", r.db.Replayed(l))
	} else {
		s.trouble("postpone a DEL", r.db.Postpone(l, rest, r.now))
	}
}

// decide decides what becomes of a queued DEL, and again after its call is announced, if it
// is to be forwarded.
func (r *replay) decide(ctx context.Context, s *session) (guard.Decision, guard.Known, error) {
	d, known, err := s.decide(ctx, guard.Replay)
	if err == nil && d.Forward {
		s.announce()
		d, known, err = s.decide(ctx, guard.Replay)
	}
	return d, known, err
}

// resume builds the call as the runtime would make it.
func (s *session) resume() (why string) {
	c := &s.call
	c.Verb, c.NetNS = guard.Del, ""
	if c.Network != s.entry.network {
		return fmt.Sprintf("it belongs to the network %q, which the configuration does not have", c.Network)
	}
	for _, id := range []string{c.Container, c.IfName, c.Namespace, c.Pod, c.UID} {
		if strings.ContainsAny(id, ";=\x00") {
			return "an identifier contains a character that is not allowed in CNI_ARGS"
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

// forward carries out the DEL. A missing endpoint counts as success.
func (r *replay) forward(ctx context.Context, s *session, d *guard.Decision, known guard.Known, l guard.QueuedDel) (why string, a *answer) {
	if !r.db.IsQueued(l) {
		return "", &answer{} // the container was added again: nothing is left to delete
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

// careful does not delete what the plugin finds by pod name. The runtime's DEL comes while
// the pod is on this node; a queued one comes later, when the pod of that name may run on
// another node, which cannot be known here. `plumbline check` finds what is left.
func (s *session) careful(ctx context.Context, d *guard.Decision, known guard.Known) *answer {
	by := s.goesBy(ctx)
	if s.absent != nil {
		return &answer{trouble: s.absent}
	}
	switch by {
	case guard.ByName:
		s.did("did not delete what the plugin finds by pod name: the pod may run on another node")
		return &answer{}
	case guard.ByBoth:
		a := s.unnamed(ctx)
		if a.ok() {
			s.did(guard.DidRelease)
		}
		return a
	default:
		return s.confirmed(ctx, d, known.Newest)
	}
}
