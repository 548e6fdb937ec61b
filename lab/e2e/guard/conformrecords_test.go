//go:build e2e

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// owned and later have the fields of the guard's ownership records and queued DELs that
// are used here.
type (
	owned struct {
		Container, State string
		Seq              uint64
	}
	later struct {
		Container, Pod, Why string
		Tries               int
	}
)

// record reads the guard's ownership records and queued DELs, by container.
func (c *conform) record() (map[string]owned, map[string]later, error) {
	owners, err := pages(c, "owner-", func(o owned) string { return o.Container })
	if err != nil {
		return nil, nil, err
	}
	queue, err := pages(c, "queued-", func(l later) string { return l.Container })
	return owners, queue, err
}

func pages[T any](c *conform, kind string, key func(T) string) (map[string]T, error) {
	files, err := filepath.Glob(c.n.Path("/run/plumbline/guard/owners/") + kind + "*")
	if err != nil {
		return nil, err
	}
	out := map[string]T{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(f, ".new") {
			continue // it is gone meanwhile, or does not exist yet
		}
		if err != nil {
			return nil, err
		}
		var page struct{ Is T }
		_, text, _ := strings.Cut(string(b), " ")
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out[key(page.Is)] = page.Is
	}
	return out, nil
}

// allocations returns the addresses that Calico's blocks allocate, by handle, and its
// handles.
func (c *conform) allocations(ctx context.Context) (held map[string][]string, handles map[string]bool, err error) {
	blocks, err := c.Blocks(ctx)
	if err != nil {
		return nil, nil, err
	}
	held, handles = map[string][]string{}, map[string]bool{}
	for _, b := range blocks {
		net, _, _ := strings.Cut(b.CIDR, "/")
		prefix := net[:strings.LastIndexByte(net, '.')+1]
		for i, a := range b.Allocations {
			if a != nil && *a < len(b.Attributes) {
				h := b.Attributes[*a].Handle
				held[h] = append(held[h], fmt.Sprint(prefix, i))
			}
		}
	}
	all, err := c.Handles(ctx)
	for _, h := range all {
		handles[h.ID] = !h.Deleted
	}
	return held, handles, err
}

func handleOf(b *box) string { return "k8s-pod-network." + b.id }

func (s *sequence) handleBy(pod string) string { return s.Namespace + "." + pod }

// catchUp waits for processes that a killed guard left running, and reads the result.
func (s *sequence) catchUp(ctx context.Context, b *box) error {
	if err := s.settle(ctx, b); err != nil {
		return err
	}
	held, _, err := s.allocations(ctx)
	if err != nil {
		return err
	}
	b.held, b.unsure = len(held[handleOf(b)]) > 0, false
	return s.recorded(b)
}

// recorded reads whether the sandbox owns its name. If Calico has more for it than its
// record, there must be a queued DEL.
func (s *sequence) recorded(b *box) error {
	owners, queue, err := s.record()
	if err != nil {
		return err
	}
	o := owners[b.id]
	b.claims = o.State == "adding" || o.State == "added"
	_, owed := queue[b.id]
	s.tell("%s is %q, queued %v, allocated %v", b, o.State, owed, b.held)
	switch {
	case b.unsure:
	case o.State == "added" && !b.held && !b.behind:
		return fmt.Errorf("%s is recorded as added, and has lost its address", b)
	case !b.claims && b.held && owed:
		b.unsure = true
	case o.State != "" && !b.claims && b.held:
		return fmt.Errorf("%s is recorded as %s, and has an address that no DEL will release", b, o.State)
	}
	return nil
}

// seen reads whether an address is allocated by the pod's name, where both are correct.
func (s *sequence) seen(ctx context.Context, pod string) error {
	held, _, err := s.allocations(ctx)
	s.named[pod] = len(held[s.handleBy(pod)]) > 0
	return err
}

// compare compares the model with Calico's records and the guard's.
func (s *sequence) compare(ctx context.Context) error {
	held, handles, err := s.allocations(ctx)
	if err != nil {
		return err
	}
	owners, _, err := s.record()
	if err != nil {
		return err
	}
	for _, b := range s.boxes {
		if b.unsure {
			continue
		}
		ips, handle, state := held[handleOf(b)], handles[handleOf(b)], owners[b.id].State
		if (len(ips) > 0) != b.held || handle != b.held || len(ips) > 1 {
			return fmt.Errorf("%s: Calico allocates %q, handle %v; the model has %v", b, ips, handle, b.held)
		}
		if b.held && (state == "deleted" || state == "failed") || !b.held && state == "added" && !b.behind {
			return fmt.Errorf("%s: allocated %v, recorded as %s", b, b.held, state)
		}
	}
	for _, pod := range s.pods {
		if is := len(held[s.handleBy(pod)]) > 0; is != s.named[pod] {
			return fmt.Errorf("%s: an address allocated by its name: %v, the model has %v", pod, is, s.named[pod])
		}
		if b := s.last[pod]; b != nil && b.held && b.claims && !b.unsure && b.result != "" {
			if err := s.shown(ctx, b, held[handleOf(b)][0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown requires that the pod's annotations have its owner.
func (s *sequence) shown(ctx context.Context, b *box, ip string) error {
	p, err := s.Pod(ctx, s.Namespace, b.pod)
	if err != nil {
		return err
	}
	const prefix = "cni.projectcalico.org/"
	if a := p.Metadata.Annotations; a[prefix+"containerID"] != b.id || a[prefix+"podIP"] != ip+"/32" {
		return fmt.Errorf("%s is owned by %s with %s, and its annotations are %v", b.pod, b, ip, a)
	}
	return nil
}
