// Package own writes the controller's own objects: findings and Events about them, and the status of
// findings, suppressions and repair policies.
// It can send nothing else.
package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

// Errors that callers distinguish.
var (
	ErrConflict = errors.New("it was changed meanwhile")
	errBusy     = errors.New("the API server is busy")
)

// writeWithin is how long one write may take. It is shorter than the time between the end of a
// leader and the beginning of the next one, so that no write of the first comes after that.
const writeWithin = 4 * time.Second

const (
	objects      = "/apis/" + v1alpha1.Group + "/" + v1alpha1.Version
	findings     = objects + "/findings"
	suppressions = objects + "/suppressions"
	policies     = objects + "/repairpolicies"
	eventsIn     = "default" // Events about objects without a namespace are there
	eventsAt     = "/api/v1/namespaces/" + eventsIn + "/events"
)

var (
	findingPath = regexp.MustCompile(`^` + findings + `/` + kube.NamePattern + `$`)
	statusPath  = regexp.MustCompile(`^(` + findings + `|` + suppressions + `|` + policies + `)/` + kube.NamePattern + `/status$`)
)

// may admits what the controller writes.
func may(method, path string) bool {
	switch method {
	case http.MethodPost:
		return path == findings || path == eventsAt
	case http.MethodPut:
		return statusPath.MatchString(path)
	case http.MethodDelete:
		return findingPath.MatchString(path)
	default:
		return false
	}
}

// A Store has the controller's own objects.
type Store struct {
	client *kube.Client
	sender *kube.Sender
	name   string // of the controller's pod, in Events
}

// New returns one for a cluster. It sends no request yet.
func New(c *kube.Client, pod string) (*Store, error) {
	s, err := c.Sender(may)
	return &Store{client: c, sender: s, name: pod}, err
}

// List gives all findings. Where nothing keeps others from creating some, there may be more than the controller's: those
// are read to a limit, and deleted before anything is created.
func (s *Store) List(ctx context.Context) ([]v1alpha1.Finding, error) {
	var out []v1alpha1.Finding
	_, err := s.client.List(ctx, findings, nil, func(item []byte) error {
		var f v1alpha1.Finding
		if len(out) >= 10*v1alpha1.MaxFindings || json.Unmarshal(item, &f) != nil {
			return nil
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// Create creates a finding, whose status is written by another request.
func (s *Store) Create(ctx context.Context, f *v1alpha1.Finding) (*v1alpha1.Finding, error) {
	bare := v1alpha1.Finding{TypeMeta: f.TypeMeta, Spec: f.Spec}
	bare.Name = f.Name
	return s.write(ctx, kube.Request{Method: http.MethodPost, Path: findings}, &bare)
}

// SetStatus writes the status of a finding, if it is unchanged since it was read.
func (s *Store) SetStatus(ctx context.Context, f *v1alpha1.Finding) (*v1alpha1.Finding, error) {
	if err := kube.CheckNames(f.Name); err != nil {
		return nil, err
	}
	if f.ResourceVersion == "" {
		return nil, fmt.Errorf("write the status of %s: its revision is not known", f.Name)
	}
	return s.write(ctx, kube.Request{Method: http.MethodPut, Path: findings + "/" + f.Name + "/status"}, f)
}

// Delete deletes a finding, if it is that one and unchanged; one that is gone is no error.
func (s *Store) Delete(ctx context.Context, f *v1alpha1.Finding) error {
	if err := kube.CheckNames(f.Name); err != nil {
		return err
	}
	type preconditions struct {
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	}
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions{string(f.UID), f.ResourceVersion}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	err = s.send(ctx, kube.Request{Method: http.MethodDelete, Path: findings + "/" + f.Name, Body: body}, nil)
	if errors.Is(err, observe.ErrNotThere) {
		return nil
	}
	return err
}

func (s *Store) write(ctx context.Context, r kube.Request, f *v1alpha1.Finding) (*v1alpha1.Finding, error) {
	var err error
	if r.Body, err = json.Marshal(f); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	out := &v1alpha1.Finding{}
	return out, s.send(ctx, r, out)
}

// send sends a request once.
func (s *Store) send(ctx context.Context, r kube.Request, into any) error {
	r.Accept = kube.AcceptJSON
	if len(r.Body) > 0 {
		r.Header = http.Header{"Content-Type": {kube.AcceptJSON}}
	}
	resp, err := s.sender.Once(ctx, r)
	if err != nil {
		return fmt.Errorf("%s %s: %w", kube.Verb(r.Method), r.Path, err)
	}
	body, err := kube.ReadBody(resp.Body)
	if err == nil {
		err = verdict(resp.StatusCode, body)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", kube.Verb(r.Method), r.Path, err)
	}
	return nil
}

// verdict is what an answer's code means.
func verdict(code int, body []byte) error {
	said := kube.Readable(kube.Message(body))
	switch {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusConflict:
		return fmt.Errorf("%w: %s", ErrConflict, said)
	case code == http.StatusNotFound:
		return fmt.Errorf("%w: %s", observe.ErrNotThere, said)
	case code == http.StatusForbidden || code == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s", kube.ErrForbidden, said)
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		return fmt.Errorf("%w: %s", errBusy, said)
	default:
		return fmt.Errorf("%d: %s", code, said)
	}
}
