package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

const stopName = "plumbline-stop"

// errStopped means that all writes are forbidden: the ConfigMap plumbline-stop exists.
var errStopped = errors.New("all repairs are stopped")

const (
	stopLook = 2 * time.Second // how old the last read may be
	stopWait = 3 * time.Second // for an answer: without one nothing is written
)

// Stop reads the kill switch live. errStopped has the reason that was given. Any other
// error means that it could not be read, and that nothing must be written.
func (w *Writer) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	for _, ns := range []string{w.namespace, "kube-system"} {
		a, there, err := w.read(ctx, "/api/v1/namespaces/"+ns+"/configmaps/"+stopName)
		if err != nil {
			return fmt.Errorf("read the kill switch: %w", err)
		}
		if there {
			return fmt.Errorf("%w by ConfigMap %s/%s: %s", errStopped, ns, stopName, reason(a.body))
		}
	}
	b, there, err := w.inUsual(ctx, "/api/v1/namespaces/"+kube.AgentNamespace+"/configmaps/"+stopName)
	if err != nil {
		return fmt.Errorf("read the kill switch: %w", err)
	}
	if there {
		return fmt.Errorf("%w by ConfigMap %s/%s: %s", errStopped, kube.AgentNamespace, stopName, reason(b.body))
	}
	return nil
}

// inUsual reads an object of plumbline-system as the user if agents are elsewhere: somebody may have
// set it there all the same. The account of repairs has no rights there, and the user need not have.
func (w *Writer) inUsual(ctx context.Context, path string) (a answer, there bool, err error) {
	if w.namespace == kube.AgentNamespace {
		return answer{}, false, nil
	}
	sent := observe.Uptime()
	b, at, err := w.client.Get(ctx, path)
	switch {
	case errors.Is(err, observe.ErrNotThere), errors.Is(err, kube.ErrForbidden):
		return answer{}, false, nil
	case err != nil:
		return answer{}, false, err
	}
	return answer{body: b, at: at, sent: sent}, true, nil
}

// reason is the reason in the ConfigMap. Its existence is enough: an unreadable one stops
// too.
func reason(b []byte) string {
	var o struct{ Data struct{ Reason string } }
	if json.Unmarshal(b, &o) != nil || o.Data.Reason == "" {
		return "no reason given"
	}
	return kube.Readable(o.Data.Reason)
}

// A Switch is asked before every write, and rereads every two seconds.
type Switch struct {
	Stopped func(context.Context) error // a Writer's Stop

	mu   sync.Mutex
	at   time.Time // when the last read began
	said error
}

// Ask is nil while writing is allowed. After a failed read it reads again at once.
func (s *Switch) Ask(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := monotonic()
	if !s.at.IsZero() && now.Sub(s.at) < stopLook {
		return s.said
	}
	s.at = time.Time{}
	err := s.Stopped(ctx)
	if err == nil || errors.Is(err, errStopped) {
		s.at, s.said = now, err
	}
	return err
}
