package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/execute"
)

// An answer is what a server said, whatever that is.
type answer struct {
	code  int
	body  []byte
	retry string    // after how long to come back
	at    time.Time // by the server's clock; zero if it did not say
	sent  time.Time // by ours, when it was asked
	doubt bool      // an earlier try may have been carried out
}

// once sends a request one time.
func (w *Writer) once(ctx context.Context, r request) (answer, error) {
	q, err := http.NewRequestWithContext(ctx, r.method, w.c.at(r), bytes.NewReader(r.body))
	if err != nil {
		return answer{}, err
	}
	if r.header != nil {
		q.Header = r.header.Clone()
	}
	q.Header.Set("Accept", r.accept)
	q.Header.Set("User-Agent", "plumbline")
	a := answer{sent: monotonic()}
	resp, err := w.http.Do(q)
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	a.code, a.retry = resp.StatusCode, resp.Header.Get("Retry-After")
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		a.at = at
	}
	a.body, err = io.ReadAll(&bounded{body: resp.Body, left: maxObject})
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return a, fmt.Errorf("read the answer: %w", err)
	}
	return a, nil
}

// A status is what the API server answers if it is not with an object.
type status struct {
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Details struct {
		Name   string  `json:"name"`
		Causes []cause `json:"causes"`
	} `json:"details"`
}

type cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

func (a *answer) status() status {
	var s status
	if json.Unmarshal(a.body, &s) != nil || s.Kind != "Status" {
		return status{}
	}
	return s
}

// absent tells that the API server knows no object of that name.
func (a *answer) absent(at string) bool {
	s := a.status()
	return a.code == http.StatusNotFound && s.Reason == "NotFound" && s.Details.Name == path.Base(at)
}

// budget tells that a disruption budget forbids an eviction. That two guard a pod, which
// no eviction can serve, the API server says in words alone.
func (a *answer) budget() bool {
	s := a.status()
	return slices.ContainsFunc(s.Details.Causes, func(c cause) bool { return c.Reason == "DisruptionBudget" }) ||
		a.code == http.StatusInternalServerError && strings.HasPrefix(s.Message, "This pod has more than one PodDisruptionBudget")
}

// another tells that the object of that name is not the one that was meant. A patch with
// the UID of another is called invalid, not a conflict.
func (a *answer) another() bool {
	return slices.ContainsFunc(a.status().Details.Causes, func(c cause) bool { return c.Field == "metadata.uid" })
}

// said is what the server said, and why.
func (a *answer) said() string {
	out := words(a.body)
	for i, c := range a.status().Details.Causes {
		if i < 3 && !strings.Contains(out, c.Message) {
			out = readable(out + " " + words([]byte(c.Message)))
		}
	}
	return out
}

// busy tells that the server wants to be asked again later.
func (a *answer) busy(r request) bool {
	switch a.code {
	case http.StatusTooManyRequests:
		return !evictionPath.MatchString(r.path) || !a.budget()
	case http.StatusServiceUnavailable:
		return a.retry != ""
	default:
		return false
	}
}

// refusals are the codes that mean no, with nothing done.
var refusals = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
	http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

// verdict says what came of a write.
func (a *answer) verdict(r request) error {
	why := a.class(r)
	switch {
	case why == nil && a.code/100 == 2:
		return nil
	case why == nil, a.doubt:
		return fmt.Errorf("%d: %s", a.code, a.said())
	default:
		return fmt.Errorf("%w: %s", why, a.said())
	}
}

func (a *answer) class(r request) error {
	s := a.status()
	evicts := evictionPath.MatchString(r.path)
	switch {
	case a.code/100 == 2:
		if s.Status == "Failure" { // whatever the code, nothing was done
			return execute.ErrRefused
		}
	case a.code == http.StatusConflict:
		return execute.ErrStale
	case a.code == http.StatusNotFound && r.method == http.MethodPost && !evicts:
		return execute.ErrRefused // where it should be made is nothing
	case a.code == http.StatusNotFound && s.Reason == "NotFound":
		return execute.ErrStale
	case evicts && a.budget():
		return execute.ErrRefused
	case a.code == http.StatusUnprocessableEntity && a.another():
		return execute.ErrStale
	case slices.Contains(refusals, a.code):
		return execute.ErrRefused
	}
	return nil
}
