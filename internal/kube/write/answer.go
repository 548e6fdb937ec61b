package write

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

// An answer is a response of a server, whatever its code.
type answer struct {
	code  int
	body  []byte
	retry string        // value of Retry-After
	at    time.Time     // by the server's clock; zero if the response has no date
	sent  time.Duration // observe.Uptime when the request was sent
	doubt bool          // an earlier attempt may have been carried out
}

// once sends a request one time.
func (w *Writer) once(ctx context.Context, r kube.Request) (answer, error) {
	a := answer{sent: observe.Uptime()}
	resp, err := w.sender.Once(ctx, r)
	if err != nil {
		return a, err
	}
	a.code, a.retry = resp.StatusCode, resp.Header.Get("Retry-After")
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		a.at = at
	}
	if a.body, err = kube.ReadBody(resp.Body); err != nil {
		return a, fmt.Errorf("read the answer: %w", err)
	}
	return a, nil
}

// A status is the API server's response instead of an object.
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

// absent reports whether the API server has no object of that name.
func (a *answer) absent(at string) bool {
	s := a.status()
	return a.code == http.StatusNotFound && s.Reason == "NotFound" && s.Details.Name == path.Base(at)
}

// budget reports whether a disruption budget forbids an eviction. If two budgets select a
// pod, no eviction is possible, and the API server reports that only in its message.
func (a *answer) budget() bool {
	s := a.status()
	return slices.ContainsFunc(s.Details.Causes, func(c cause) bool { return c.Reason == "DisruptionBudget" }) ||
		a.code == http.StatusInternalServerError && strings.HasPrefix(s.Message, "This pod has more than one PodDisruptionBudget")
}

// another reports whether the object of that name is not the intended one. A patch with
// another UID is reported as invalid, not as a conflict.
func (a *answer) another() bool {
	return slices.ContainsFunc(a.status().Details.Causes, func(c cause) bool { return c.Field == "metadata.uid" })
}

// said is the server's message with its causes.
func (a *answer) said() string {
	out := words(a.body)
	for i, c := range a.status().Details.Causes {
		if i < 3 && !strings.Contains(out, c.Message) {
			out = kube.Readable(out + " " + words([]byte(c.Message)))
		}
	}
	return out
}

// busy reports whether the server asks to retry later.
func (a *answer) busy(r kube.Request) bool {
	switch a.code {
	case http.StatusTooManyRequests:
		return !evictionPath.MatchString(r.Path) || !a.budget()
	case http.StatusServiceUnavailable:
		return a.retry != ""
	default:
		return false
	}
}

// refusals are the codes that mean that nothing was done.
var refusals = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
	http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

// verdict classifies the result of a write.
func (a *answer) verdict(r kube.Request) error {
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

func (a *answer) class(r kube.Request) error {
	s := a.status()
	evicts := evictionPath.MatchString(r.Path)
	switch {
	case a.code/100 == 2:
		if s.Status == "Failure" { // whatever the code, nothing was done
			return execute.ErrRefused
		}
	case a.code == http.StatusConflict, slices.Contains(refusals, a.code) && strings.Contains(s.Message, "'"+fencePolicy+"'"):
		return execute.ErrStale // the API server may not have seen yet that we hold the lease; if we do not, Held says so
	case a.code == http.StatusNotFound && r.Method == http.MethodPost && !evicts:
		return execute.ErrRefused // its namespace or collection does not exist
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
