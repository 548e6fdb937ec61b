package repair

import (
	"encoding/json"
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/model"
)

// What an edit can come to besides a new object.
var (
	ErrAlready = errors.New("it is so already")
	ErrMoved   = errors.New("the world moved on")
)

// A Scene is what an edit is computed from: the object as it is, and what else had to be
// read after it.
type Scene struct {
	Live model.Object
	Also map[model.Ref]model.Object
	// Keep tells which findings are still being repaired.
	Keep func(finding string) bool
	Etcd bool // how Calico's etcd spells things
	Now  model.Time
}

// An Edited is what is to be written in the place of the object that was read.
type Edited struct {
	Object  model.Object
	Delete  bool              // instead of being written
	For     []string          // the findings that it serves
	Dropped map[string]string // findings that it no longer can serve, and why
	Was     json.RawMessage   // what is changed, as it was
	Now     json.RawMessage   // and as it will be
}

// Also names what must be read after the object itself.
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

// Edit computes what the step writes. ErrAlready means that there is nothing left to do,
// ErrMoved that what it relies on holds no more.
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
		return Edited{}, fmt.Errorf("step %d: nothing that an object could be edited by", s.ID)
	}
}

// moved says why what a step relies on holds no more.
func moved(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMoved, fmt.Sprintf(format, args...))
}

// complete is an edit of an object for all of the step's findings that are still repaired.
func (s *Step) complete(sc Scene, o model.Object, was, now any) (Edited, error) {
	e := Edited{Object: o}
	for _, f := range s.For {
		if sc.Keep(f) || s.Always {
			e.For = append(e.For, f)
		}
	}
	if len(e.For) == 0 {
		return e, moved("none of its findings is left")
	}
	var err1, err2 error
	e.Was, err1 = json.Marshal(was)
	e.Now, err2 = json.Marshal(now)
	return e, errors.Join(err1, err2)
}

// onto gives the object with another body.
func onto(o model.Object, body any) (model.Object, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return o, fmt.Errorf("write %s: %w", o.Ref, err)
	}
	o.Body = b
	return o, nil
}
