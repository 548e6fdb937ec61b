package calico

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// asRead returns the complete object that o was made from. Reading it again is safe: a
// write still compares with o's own revision.
func (s *CRDStore) asRead(ctx context.Context, o model.Object, p place) (stored, error) {
	s.lock.Lock()
	was := s.last[o.Ref]
	s.lock.Unlock()
	if was.is(&o) {
		return was, nil
	}
	was, err := s.find(ctx, o.Ref, p)
	if err == nil && !was.is(&o) {
		err = execute.ErrStale
	}
	return was, err
}

// maxLast bounds how many objects are remembered; others are read again.
const maxLast = 100

func (s *CRDStore) remember(r model.Ref, o stored) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.last) >= maxLast {
		clear(s.last)
	}
	s.last[r] = o
}

// one is the path of an object that was found.
func (c *CRDs) one(p place, o stored) string {
	return c.path(p.resource + "/" + url.PathEscape(o.meta.Name))
}

// errTwice means that two objects match.
var errTwice = errors.New("two objects match")

// find reads an object under the name that Calico would give it. A missing affinity may
// have another name: the list is searched.
func (s *CRDStore) find(ctx context.Context, r model.Ref, p place) (stored, error) {
	found, err := s.read(ctx, p)
	if err != nil || r.Kind != model.KindAffinity || found.there() && isOf(r, found.raw["spec"]) {
		return found, err
	}
	var names []string
	_, err = s.crds.API.List(ctx, s.crds.path(p.resource), nil, func(item []byte) error {
		o, err := parseObject(p.resource, item)
		if err == nil && isOf(r, o.Spec) {
			names = append(names, o.Metadata.Name)
		}
		return err
	})
	switch {
	case err != nil || len(names) == 0:
		return stored{}, err
	case len(names) > 1:
		return stored{}, fmt.Errorf("%q: %w", names, errTwice)
	}
	p.name = names[0]
	found, err = s.read(ctx, p)
	if found.there() && !isOf(r, found.raw["spec"]) {
		return stored{}, err
	}
	return found, err
}

func (s *CRDStore) read(ctx context.Context, p place) (stored, error) {
	raw, _, err := s.crds.API.Get(ctx, s.crds.path(p.resource+"/"+url.PathEscape(p.name)))
	if errors.Is(err, observe.ErrNotThere) {
		return stored{}, nil
	}
	if err != nil {
		return stored{}, err
	}
	return parseStored(raw)
}
