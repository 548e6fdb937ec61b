package repair

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// ErrInvalid means that Plumbline did not make this plan, or that it was edited into
// something that it does not execute.
var ErrInvalid = errors.New("not a valid plan")

var planID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// Valid rejects a plan that must not be executed. Plans are files and may come from anywhere,
// so Valid does not trust Make. If it returns nil:
//
//   - targets have unique keys; step IDs are 1..n in order; every step serves at least one
//     target and only targets, has exactly one change, and its object has the matching kind;
//   - a release of an address has a NotInUse proof with that address and its container;
//   - a transfer of an address to a new owner has a Running proof with that address;
//   - an endpoint is deleted with a NotInUse proof of its sandbox, or with a Running proof if
//     the running pod keeps another endpoint; it is created with a Running proof;
//   - an annotation is written with a Running proof and cleared with a NotInUse proof of its
//     sandbox;
//   - an eviction names the pod, its sandbox, and for every address the handle that keeps it;
//   - a change on a node is a known verb with the proof that it needs;
//   - the risk of a target is at least the risk of its steps.
func (p *Plan) Valid() error {
	if !planID.MatchString(p.ID) || !planID.MatchString(p.Cluster) {
		return fmt.Errorf("%w: id or cluster is missing or malformed", ErrInvalid)
	}
	targets := map[string]*Target{}
	for i := range p.Targets {
		t := &p.Targets[i]
		if targets[t.Finding] != nil || t.Finding == "" {
			return fmt.Errorf("%w: finding %q is empty or listed twice", ErrInvalid, t.Finding)
		}
		targets[t.Finding] = t
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.ID != i+1 {
			return fmt.Errorf("%w: step %d has id %d", ErrInvalid, i+1, s.ID)
		}
		if err := s.valid(targets); err != nil {
			return fmt.Errorf("%w: step %d: %w", ErrInvalid, s.ID, err)
		}
	}
	return nil
}

func (s *Step) valid(targets map[string]*Target) error {
	if len(s.For) == 0 {
		return errors.New("it serves no finding")
	}
	for _, f := range s.For {
		if targets[f] == nil {
			return fmt.Errorf("it serves %q, which is not a target", f)
		}
	}
	kind, n := s.kind()
	if n != 1 {
		return fmt.Errorf("it has %d changes, not 1", n)
	}
	if kind != "" && s.On.Kind != kind {
		return fmt.Errorf("it changes a %s, but its object is a %s", kind, s.On.Kind)
	}
	switch {
	case s.Count != nil && s.On.Name != s.Count.Handle:
		return fmt.Errorf("it counts handle %s, but its object is %s", s.Count.Handle, s.On.Name)
	case s.Affinity != nil && s.On.Name != s.Affinity.Node+"/"+s.Affinity.CIDR.String():
		return fmt.Errorf("it changes an affinity of %s, but its object is %s", s.Affinity.Node, s.On.Name)
	case s.Count != nil && s.Count.Unchanged != "" && !s.Always && len(s.Count.Raise) == 0 && slices.ContainsFunc(s.For, func(f string) bool { return targets[f].Proof.NotInUse == nil }):
		return errors.New("it lowers a handle without live verification by any node")
	}
	if s.Always && s.Count == nil {
		return errors.New("always is only allowed for a recount")
	}
	return s.proven(targets)
}

// kind gives the kind that the object must have (empty: any), and the number of changes.
func (s *Step) kind() (kind model.Kind, n int) {
	for _, c := range []struct {
		set  bool
		kind model.Kind
	}{
		{len(s.Ordinals) > 0, model.KindBlock},
		{s.Mend != nil, model.KindBlock},
		{s.NewBlock != nil, model.KindBlock},
		{s.Count != nil, model.KindHandle},
		{s.Affinity != nil, model.KindAffinity},
		{s.Endpoint != nil, model.KindEndpoint},
		{s.Annotate != nil, model.KindPod},
		{s.Evict != nil, model.KindPod},
		{s.Restart != nil, model.KindPod},
		{s.Node != nil, ""},
		{s.Await != nil, ""},
	} {
		if c.set {
			kind, n = c.kind, n+1
		}
	}
	return kind, n
}

// proven returns an error if a target does not have the proof that the change needs.
func (s *Step) proven(targets map[string]*Target) error {
	for _, o := range s.Ordinals {
		t := targets[o.For]
		if t == nil || !slices.Contains(s.For, o.For) {
			return fmt.Errorf("it changes %s for %q, which is not among its targets", o.IP, o.For)
		}
		switch {
		case o.To == nil && !t.Proof.NotInUse.covers(o):
			return fmt.Errorf("it releases %s without verification that it is not in use", o.IP)
		case o.To == nil && len(t.Proof.NotInUse.Except) > 0:
			return fmt.Errorf("it releases %s, but the verification that it is not in use has exceptions", o.IP)
		case o.To != nil && o.To.Handle == "" && !o.restores():
			return fmt.Errorf("it records %s without a handle", o.IP)
		case o.To != nil && o.From != nil && !o.restores() && (t.Proof.Running == nil || !slices.Contains(t.Proof.Running.IPs, o.IP)):
			return fmt.Errorf("it transfers %s without verification that the pod that receives the record is running", o.IP)
		}
	}
	for _, f := range s.For {
		if t := targets[f]; t.Risk.Level() < s.least().Level() {
			return fmt.Errorf("its risk is at least %s, but the target has risk %s", s.least(), t.Risk)
		}
		p := targets[f].Proof
		switch {
		case p.NotInUse != nil && len(p.NotInUse.Except) > 0 && s.Ordinals == nil && s.Count == nil:
			return errors.New("the verification has exceptions, but the step gives no address back")
		case s.Node != nil && !s.Node.proven(s.On, p):
			return fmt.Errorf("node change %q does not have the verification that it needs", s.Node.Verb)
		case s.Endpoint != nil && s.Endpoint.Instead != model.Ref{}:
			if !s.Endpoint.spares(s.On, p.Running) {
				return errors.New("it deletes an endpoint of a running pod without naming the one that stays")
			}
		case s.Endpoint != nil && s.Endpoint.Want == nil && (p.NotInUse == nil || !slices.Contains(p.NotInUse.Containers, s.Endpoint.Container) || !p.NotInUse.somewhere()):
			return errors.New("it deletes an endpoint without verification that its sandbox is gone")
		case s.Endpoint != nil && s.Endpoint.Want != nil && p.Running == nil,
			s.Annotate != nil && !s.Annotate.Empty && (p.Running == nil || p.Running.Container != s.Annotate.Container):
			return errors.New("it writes a record without verification that the pod that receives it is running")
		case s.Annotate != nil && s.Annotate.Empty && (p.NotInUse == nil || !slices.Contains(p.NotInUse.Containers, s.Annotate.Container)):
			return errors.New("it clears an annotation without verification that its sandbox is gone")
		case s.Evict != nil && (s.Evict.UID == "" || len(s.Evict.Keeps) == 0 || s.Evict.Has.UID != s.Evict.UID || s.Evict.Has.Container == "" || slices.ContainsFunc(s.Evict.Keeps, func(k Keep) bool { return k.Handle == "" || !k.IP.IsValid() })):
			return errors.New("it evicts a pod without naming the pod that keeps the address")
		}
	}
	return nil
}

// spares reports that, of the two endpoints of a running pod, the step deletes the one that
// does not name the pod's node.
func (e *Endpoint) spares(on model.Ref, l *RunningPod) bool {
	return e.Want == nil && l != nil && e.Container != "" && l.Container == e.Container && e.Instead.Kind == model.KindEndpoint && e.Instead != on &&
		on.Name != model.EndpointName(l.Node, &model.Pod{Namespace: l.Namespace, Name: l.Pod})
}

// least is the lowest risk that the change of a step can have.
func (s *Step) least() Risk {
	switch {
	case s.Evict != nil:
		return Destructive
	case s.Restart != nil:
		return Disruptive
	case s.Node == nil || s.Node.Verb == "unlink":
		return Safe
	case s.Node.Verb == "remove":
		return Destructive
	default:
		return Disruptive
	}
}

// proven reports whether a change on a node has the proof that it needs. It is false for
// unknown verbs.
func (n *OnNode) proven(on model.Ref, p Proof) bool {
	switch n.Verb {
	case "unlink":
		return p.NotInUse != nil && (p.NotInUse.All || slices.Contains(p.NotInUse.Nodes, on.OnNode()))
	case "unroute", "unneighbour":
		return p.Running != nil && p.Running.Node == on.OnNode()
	case "sysctl":
		return p.Running != nil && p.Running.Node == on.OnNode() && n.Args["value"] == "1"
	case "abort":
		return true // the agent refuses a mount that answers, and one of a pod that the plan does not name
	case "remove":
		return p.NotInUse != nil && slices.ContainsFunc(p.NotInUse.Gone, func(g PodIs) bool { return g.UID != "" && g.UID == n.Args["uid"] })
	default:
		return false
	}
}

// covers reports that the proof includes this address and its container (or all nodes), and
// that at least one node must verify it.
func (d *NotInUse) covers(o Ordinal) bool {
	if d == nil || d.Calm || !slices.Contains(d.IPs, o.IP) || !d.somewhere() || o.From == nil {
		return false
	}
	id := model.ContainerOf(o.From.Handle)
	return d.All || id != "" && slices.Contains(d.Containers, id)
}

// restores reports that the owner before the write is our temporary handle.
func (o *Ordinal) restores() bool {
	return o.From != nil && strings.HasPrefix(o.From.Handle, HoldPrefix)
}

// somewhere reports that at least one node must verify.
func (d *NotInUse) somewhere() bool { return d != nil && (d.All || len(d.Nodes) > 0) }
