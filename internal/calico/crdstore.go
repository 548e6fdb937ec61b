package calico

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

// A Writer changes objects of the Kubernetes API. It returns execute.ErrStale if the object
// has changed, already exists or is gone; execute.ErrRefused if nothing was written and a
// retry would not help; any other error if the result is unknown.
type Writer interface {
	Write(ctx context.Context, method, path, contentType string, query url.Values, body []byte) (answer []byte, err error)
}

// errGroup means that Calico's format in that API group is not tested.
var errGroup = fmt.Errorf("writing in this API group is not supported yet: %w", execute.ErrRefused)

// CRDStore changes blocks, handles and affinities in custom resources.
type CRDStore struct {
	DryRun bool // the API server validates everything and persists nothing

	crds   *CRDs
	writer Writer

	lock sync.Mutex
	last map[model.Ref]stored // each object as last read, so that a write keeps fields that are not ours
}

var _ execute.Store = (*CRDStore)(nil)

// Store returns what writes single objects.
func (c *CRDs) Store(w Writer) *CRDStore {
	return &CRDStore{crds: c, writer: w, last: map[model.Ref]stored{}}
}

// Get reads an object live. One that Calico has only marked as deleted exists.
func (s *CRDStore) Get(ctx context.Context, r model.Ref) (model.Object, error) {
	p, err := placeOf(r)
	if err != nil {
		return model.Object{}, err
	}
	found, err := s.find(ctx, r, p)
	if err != nil {
		return model.Object{}, fmt.Errorf("read %s: %w", r, err)
	}
	s.remember(r, found)
	return found.object(r), nil
}

// Put writes o if the object still has o.UID and o.Revision; without a revision it creates
// it. A dry run returns o.
func (s *CRDStore) Put(ctx context.Context, o model.Object) (model.Object, error) {
	p, err := s.mayWrite(o.Ref)
	if err != nil {
		return model.Object{}, err
	}
	if !isOf(o.Ref, o.Body) {
		return model.Object{}, fmt.Errorf("write %s: its body belongs to another object: %w", o.Ref, execute.ErrRefused)
	}
	answer, err := s.send(ctx, o, p)
	if err != nil {
		return model.Object{}, fmt.Errorf("write %s: %w", o.Ref, err)
	}
	if s.DryRun {
		return o, nil
	}
	now, err := parseStored(answer)
	if err != nil {
		return model.Object{}, fmt.Errorf("write %s: read the answer: %w", o.Ref, err)
	}
	s.remember(o.Ref, now)
	return now.object(o.Ref), nil
}

func (s *CRDStore) send(ctx context.Context, o model.Object, p place) ([]byte, error) {
	if !o.There() {
		body, err := fresh(s.crds.Group, p, o.Body, o.Labels)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", execute.ErrRefused, err)
		}
		return s.write(ctx, http.MethodPost, s.crds.path(p.resource), body)
	}
	was, err := s.asRead(ctx, o, p)
	if err != nil {
		return nil, err
	}
	body, err := was.with(o.Body, o.Labels)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrRefused, err)
	}
	return s.write(ctx, http.MethodPut, s.crds.one(p, was), body)
}

// Delete deletes the object atomically if it still has o.UID and o.Revision.
func (s *CRDStore) Delete(ctx context.Context, o model.Object) error {
	p, err := s.mayWrite(o.Ref)
	if err != nil {
		return err
	}
	was, err := s.asRead(ctx, o, p)
	if err != nil {
		return fmt.Errorf("delete %s: %w", o.Ref, err)
	}
	if f := was.meta.Finalizers; len(f) > 0 { // it would stay half deleted until they are removed
		return fmt.Errorf("delete %s: finalizers %q block the deletion: %w", o.Ref, f, execute.ErrRefused)
	}
	body, err := was.onlyIf(s.DryRun)
	if err != nil {
		return fmt.Errorf("delete %s: %w: %w", o.Ref, execute.ErrRefused, err)
	}
	if _, err := s.write(ctx, http.MethodDelete, s.crds.one(p, was), body); err != nil {
		return fmt.Errorf("delete %s: %w", o.Ref, err)
	}
	return nil
}

func (s *CRDStore) mayWrite(r model.Ref) (place, error) {
	if s.crds.Group != groupV1 {
		return place{}, fmt.Errorf("write %s: %s: %w", r, s.crds.Group, errGroup)
	}
	return placeOf(r)
}

// write sends it. With Strict a field that the server does not know is refused instead of
// dropped silently.
func (s *CRDStore) write(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	q := url.Values{}
	if method != http.MethodDelete {
		q.Set("fieldValidation", "Strict")
	}
	if s.DryRun {
		q.Set("dryRun", "All")
	}
	return s.writer.Write(ctx, method, path, "application/json", q, body)
}
