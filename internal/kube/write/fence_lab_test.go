//go:build e2e

package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
)

const oneHandle = `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"name":%q},"spec":{"handleID":%q,"deleted":false,"block":{"10.244.8.0/26":1}}}`

// makes creates a handle of Calico's, which needs the lease.
func makes(t *testing.T, w *Writer, name string, dry bool) error {
	_, err := w.Write(t.Context(), "POST", "/apis/crd.projectcalico.org/v1/ipamhandles", kube.AcceptJSON, dryRun(dry), fmt.Appendf(nil, oneHandle, name, name))
	return err
}

// holds takes the lease, waits until the API server's policy knows it, and returns how to give it
// back.
func (e *edge) holds(t *testing.T, w *Writer) func() {
	t.Helper()
	l, err := w.Acquire(t.Context(), "test@lab")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	e.wait("the policy knows the lease", func() error {
		n++
		return makes(t, w, fmt.Sprintf("held-%s-%d", strings.ToLower(l.id[len(l.id)-6:]), n), false)
	})
	return func() { _ = l.Release(t.Context()) }
}

// fence: only who holds the lease writes Calico's records, although another has the same account.
func (e *edge) fence(t *testing.T) {
	first, second := writing(t, e.account()), writing(t, e.account())
	refused := func(w *Writer, name, what string) {
		t.Helper()
		e.wait(what+" is refused", func() error {
			err := makes(t, w, fmt.Sprintf("%s-%d", name, len(name)), false)
			if err == nil || !strings.Contains(err.Error(), fencePolicy) {
				return fmt.Errorf("%w", err)
			}
			if !errors.Is(err, execute.ErrStale) {
				t.Errorf("%s: %v", what, err)
			}
			return nil
		})
	}
	release := e.holds(t, first)
	refused(second, "other", "a write with another token")
	if err := makes(t, second, "dry", true); err != nil {
		t.Errorf("a dry run without the lease: %v", err)
	}
	// The first is suspended, and another takes the lease.
	at := leaseAt("plumbline-system") + "/" + leaseName
	e.force(t, at, "dora", time.Now())
	o := e.leaseNow(t, at)
	o.Metadata.Annotations[credentials] = "JTI=doras"
	b, _ := json.Marshal(o)
	e.do("PUT", at, string(b))
	refused(first, "deposed", "a write of who lost the lease")
	release()
	refused(second, "released", "a write when nobody holds the lease")
	// Calico's own writes are never in the way, lease or not.
	e.do("POST", "/apis/crd.projectcalico.org/v1/ipamhandles", fmt.Sprintf(oneHandle, "calicos-1", "calicos-1"))
	e.do("DELETE", at, "")
	for n := range 20 {
		e.do("POST", "/apis/crd.projectcalico.org/v1/ipamhandles", fmt.Sprintf(oneHandle, fmt.Sprintf("calicos-2-%d", n), fmt.Sprintf("calicos-2-%d", n)))
		time.Sleep(100 * time.Millisecond) // until the policy has seen it too
	}
}
