package repair

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// ErrInvalid means that a plan cannot be one of ours, or was changed by hand into what no
// rule allows.
var ErrInvalid = errors.New("not a valid plan")

var planID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// Valid refuses a plan of which a step does not say what it must: plans are files, and
// files come from anywhere. What takes away must have the proof that it is dead, what gives
// the proof that it lives; no step can forget it.
func (p *Plan) Valid() error {
	if !planID.MatchString(p.ID) || !planID.MatchString(p.Cluster) {
		return fmt.Errorf("%w: no name of its own or of its cluster", ErrInvalid)
	}
	targets := map[string]*Target{}
	for i := range p.Targets {
		t := &p.Targets[i]
		if targets[t.Finding] != nil || t.Finding == "" {
			return fmt.Errorf("%w: finding %q twice", ErrInvalid, t.Finding)
		}
		targets[t.Finding] = t
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.ID != i+1 {
			return fmt.Errorf("%w: step %d is called %d", ErrInvalid, i+1, s.ID)
		}
		if err := s.valid(targets); err != nil {
			return fmt.Errorf("%w: step %d: %w", ErrInvalid, s.ID, err)
		}
	}
	return nil
}

func (s *Step) valid(targets map[string]*Target) error {
	if len(s.For) == 0 {
		return errors.New("for no finding")
	}
	for _, f := range s.For {
		if targets[f] == nil {
			return fmt.Errorf("for %q, which is no target", f)
		}
	}
	kind, n := s.kind()
	if n != 1 {
		return fmt.Errorf("%d changes", n)
	}
	if kind != "" && s.On.Kind != kind {
		return fmt.Errorf("a change of a %s on a %s", kind, s.On.Kind)
	}
	switch {
	case s.Count != nil && s.On.Name != s.Count.Handle:
		return fmt.Errorf("a count of %s on %s", s.Count.Handle, s.On.Name)
	case s.Affinity != nil && s.On.Name != s.Affinity.Node+"/"+s.Affinity.CIDR.String():
		return fmt.Errorf("an affinity of %s on %s", s.Affinity.Node, s.On.Name)
	case s.Count != nil && s.Count.Unchanged != "" && !s.Always && len(s.Count.Raise) == 0 && slices.ContainsFunc(s.For, func(f string) bool { return targets[f].Proof.NotInUse == nil }):
		return errors.New("a handle is lowered without a word of any node")
	}
	if s.Always && s.Count == nil {
		return errors.New("only a recount is always right")
	}
	return s.proven(targets)
}

// kind tells of which kind the object must be, and how many changes there are.
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

// proven tells whether the findings have the proofs that the change needs.
func (s *Step) proven(targets map[string]*Target) error {
	for _, o := range s.Ordinals {
		t := targets[o.For]
		if t == nil || !slices.Contains(s.For, o.For) {
			return fmt.Errorf("%s for %q, which is no target of it", o.IP, o.For)
		}
		switch {
		case o.To == nil && !t.Proof.NotInUse.covers(o):
			return fmt.Errorf("%s is freed without a proof that nobody uses it", o.IP)
		case o.To == nil && len(t.Proof.NotInUse.Except) > 0:
			return fmt.Errorf("%s is freed, and somebody is excepted from the proof that nobody uses it", o.IP)
		case o.To != nil && o.To.Handle == "" && !o.restores():
			return fmt.Errorf("%s is recorded for nobody", o.IP)
		case o.To != nil && o.From != nil && !o.restores() && (t.Proof.Running == nil || !slices.Contains(t.Proof.Running.IPs, o.IP)):
			return fmt.Errorf("%s is handed over without a proof that the one who gets it lives", o.IP)
		}
	}
	for _, f := range s.For {
		if t := targets[f]; t.Risk.Level() < s.least().Level() {
			return fmt.Errorf("it is %s at least, and its finding says %s", s.least(), t.Risk)
		}
		p := targets[f].Proof
		switch {
		case p.NotInUse != nil && len(p.NotInUse.Except) > 0 && s.Ordinals == nil && s.Count == nil:
			return errors.New("somebody is excepted from the proof that nobody uses it, and no address is given back")
		case s.Node != nil && !s.Node.proven(s.On, p):
			return fmt.Errorf("%q on a node without the proof that it needs", s.Node.Verb)
		case s.Endpoint != nil && s.Endpoint.Instead != model.Ref{}:
			if !s.Endpoint.spares(s.On, p.Running) {
				return errors.New("an endpoint of a living pod is removed, and it is not said which one stays")
			}
		case s.Endpoint != nil && s.Endpoint.Want == nil && (p.NotInUse == nil || !slices.Contains(p.NotInUse.Containers, s.Endpoint.Container) || !p.NotInUse.somewhere()):
			return errors.New("an endpoint is removed without a proof that its sandbox is dead")
		case s.Endpoint != nil && s.Endpoint.Want != nil && p.Running == nil,
			s.Annotate != nil && !s.Annotate.Empty && (p.Running == nil || p.Running.Container != s.Annotate.Container):
			return errors.New("a pod is given a record without a proof that it lives")
		case s.Annotate != nil && s.Annotate.Empty && (p.NotInUse == nil || !slices.Contains(p.NotInUse.Containers, s.Annotate.Container)):
			return errors.New("a pod's record is emptied without a proof that its sandbox is dead")
		case s.Evict != nil && (s.Evict.UID == "" || len(s.Evict.Keeps) == 0 || s.Evict.Has.UID != s.Evict.UID || s.Evict.Has.Container == "" || slices.ContainsFunc(s.Evict.Keeps, func(k Keep) bool { return k.Handle == "" || !k.IP.IsValid() })):
			return errors.New("a pod is evicted, and it is not said who stays")
		}
	}
	return nil
}

// spares tells that of a living pod's two endpoints the one goes that does not name the
// node where it lives.
func (e *Endpoint) spares(on model.Ref, l *RunningPod) bool {
	return e.Want == nil && l != nil && e.Container != "" && l.Container == e.Container && e.Instead.Kind == model.KindEndpoint && e.Instead != on &&
		on.Name != model.EndpointName(l.Node, &model.Pod{Namespace: l.Namespace, Name: l.Pod})
}

// least is the smallest risk that what a step does can have, whatever its plan says.
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

// proven tells whether a change of a node's has the proof that it needs. A verb that is not
// known has none.
func (n *OnNode) proven(on model.Ref, p Proof) bool {
	switch n.Verb {
	case "unlink":
		return p.NotInUse != nil && (p.NotInUse.All || slices.Contains(p.NotInUse.Nodes, on.OnNode()))
	case "unroute", "unneighbour":
		return p.Running != nil && p.Running.Node == on.OnNode()
	case "sysctl":
		return p.Running != nil && p.Running.Node == on.OnNode() && n.Args["value"] == "1"
	case "abort":
		return true // the agent refuses what answers, and what a pod has that the plan does not name
	case "remove":
		return p.NotInUse != nil && slices.ContainsFunc(p.NotInUse.Gone, func(g PodIs) bool { return g.UID != "" && g.UID == n.Args["uid"] })
	default:
		return false
	}
}

// covers tells that the proof is of this address, of the container that holds it, and asked
// of somebody.
func (d *NotInUse) covers(o Ordinal) bool {
	if d == nil || d.Calm || !slices.Contains(d.IPs, o.IP) || !d.somewhere() || o.From == nil {
		return false
	}
	id := model.ContainerOf(o.From.Handle)
	return d.All || id != "" && slices.Contains(d.Containers, id)
}

// restores tells that an address is taken out of our own hold again: whose it was.
func (o *Ordinal) restores() bool {
	return o.From != nil && strings.HasPrefix(o.From.Handle, HoldPrefix)
}

// somewhere tells that at least one node must speak.
func (d *NotInUse) somewhere() bool { return d != nil && (d.All || len(d.Nodes) > 0) }
