package repair

import (
	"encoding/json"
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/model"
)

// Results of Edit other than an edited object. Nothing is written after either.
var (
	ErrAlready = errors.New("the object already has the wanted state")
	ErrMoved   = errors.New("the object changed since the plan was made")
)

// A Scene is the input of Edit. Invariant: every object of Also was read after Live. The
// write compares Live.UID and Live.Revision, so what Also shows is at least as new as the
// object that is replaced.
type Scene struct {
	Live model.Object
	Also map[model.Ref]model.Object
	// Keep reports whether a finding is still being repaired.
	Keep func(finding string) bool
	Etcd bool // encode as in Calico's etcd, not as in custom resources
	Now  model.Time
}

// An Edited is the write that replaces the object that was read.
type Edited struct {
	Object  model.Object
	Delete  bool              // delete Object instead of writing it
	For     []string          // the findings that this write serves; not empty
	Dropped map[string]string // findings that can no longer be repaired, and why
	Was     json.RawMessage   // the changed part before the write, for the journal
	Now     json.RawMessage   // the changed part after the write
}

// Also names the objects that must be read after the object of the step.
func (s *Step) Also(live model.Object) ([]model.Ref, error) {
	switch {
	case s.Count != nil:
		return s.countReads(live)
	case s.Affinity != nil:
		return []model.Ref{{Kind: model.KindBlock, Name: s.Affinity.CIDR.String()}}, nil
	case s.NewBlock != nil:
		return []model.Ref{{Kind: model.KindAffinity, Name: s.NewBlock.Node + "/" + s.On.Name}}, nil
	case s.Endpoint != nil && s.Endpoint.Instead != model.Ref{}:
		return []model.Ref{s.Endpoint.Instead}, nil
	case s.Evict != nil:
		var refs []model.Ref
		for _, k := range s.Evict.Keeps {
			refs = append(refs, model.Ref{Kind: model.KindBlock, Name: k.Block.String()})
		}
		return refs, nil
	default:
		return nil, nil
	}
}

// Edit computes the write of the step. It is pure. ErrAlready: the object has the wanted
// state. ErrMoved: a condition of the step no longer holds. Any other error: an object
// cannot be parsed. Dropped may be set together with an error.
func (s *Step) Edit(sc Scene) (Edited, error) {
	switch {
	case s.Ordinals != nil:
		return s.editOrdinals(sc)
	case s.Mend != nil:
		return s.mendBlock(sc)
	case s.NewBlock != nil:
		return s.newBlock(sc)
	case s.Count != nil:
		return s.editCount(sc)
	case s.Affinity != nil:
		return s.editAffinity(sc)
	case s.Endpoint != nil:
		return s.editEndpoint(sc)
	case s.Annotate != nil:
		return s.editPod(sc)
	case s.Evict != nil:
		return s.evictPod(sc)
	case s.Restart != nil:
		return s.restartPod(sc)
	default:
		return Edited{}, fmt.Errorf("step %d: it does not change an object", s.ID)
	}
}

// moved makes an ErrMoved that names the condition that no longer holds.
func moved(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMoved, fmt.Sprintf(format, args...))
}

// complete makes the Edited for all findings of the step that are still repaired.
func (s *Step) complete(sc Scene, o model.Object, was, now any) (Edited, error) {
	e := Edited{Object: o}
	for _, f := range s.For {
		if sc.Keep(f) || s.Always {
			e.For = append(e.For, f)
		}
	}
	if len(e.For) == 0 {
		return e, moved("none of its findings is repaired any more")
	}
	var err1, err2 error
	e.Was, err1 = json.Marshal(was)
	e.Now, err2 = json.Marshal(now)
	return e, errors.Join(err1, err2)
}

// onto gives the object with a new body.
func onto(o model.Object, body any) (model.Object, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return o, fmt.Errorf("write %s: %w", o.Ref, err)
	}
	o.Body = b
	return o, nil
}
