//go:build e2e

package guard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// A box is one sandbox of a sequence, with its state in the model.
type box struct {
	id, pod, uid, netns string
	order               int
	claims              bool   // its ADD was started, has not failed, and it was not deleted
	held                bool   // Calico has an address for it
	unsure              bool   // it may have one until the queue is processed
	behind              bool   // a DEL of it may have done more than its record shows
	result              string // of its ADD
}

func (b *box) String() string { return b.id[:12] }

// A sequence is a random sequence of calls for a few pods, compared with the model.
type sequence struct {
	*conform
	i        int
	r        *rand.Rand
	version  string
	survives bool
	pods     []string
	uid      map[string]string
	boxes    []*box
	last     map[string]*box // the sandbox of the pod's last ADD, if the pod is still the same
	named    map[string]bool // an address is allocated by the pod's name

	talk sync.Mutex
	said []string
}

func (s *sequence) tell(format string, args ...any) {
	s.talk.Lock()
	defer s.talk.Unlock()
	s.said = append(s.said, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (s *sequence) with(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w, in %s\n\t%s", err, s.version, strings.Join(s.said, "\n\t"))
}

func (s *sequence) step(ctx context.Context) error {
	pod := s.pods[s.r.IntN(len(s.pods))]
	if len(s.boxes) == 0 {
		return s.plug(ctx, pod, 0)
	}
	b := s.boxes[s.r.IntN(len(s.boxes))]
	while := time.Duration(1+s.r.IntN(700)) * time.Millisecond
	switch s.r.IntN(14) {
	case 0, 1, 2:
		return s.plug(ctx, pod, 0)
	case 3:
		return s.plug(ctx, pod, while)
	case 4:
		return s.plugNowhere(ctx, pod)
	case 5:
		return s.cut(ctx, b, while)
	case 6:
		return s.plugAndDelete(ctx, pod, while)
	case 7, 8:
		return s.plugOver(ctx, b, while)
	case 9:
		return s.deleteTwo(b, s.boxes[s.r.IntN(len(s.boxes))])
	case 10:
		return s.check(b)
	case 11:
		s.add("replace")
		return s.replace(ctx, pod)
	default:
		return s.del(b)
	}
}

// open creates a sandbox, without a network as yet.
func (s *sequence) open(ctx context.Context, pod string) (*box, error) {
	k := len(s.boxes)
	b := &box{id: fmt.Sprintf("%06x%06x%052x", s.i+1, k+1, 7), pod: pod, uid: s.uid[pod], order: k}
	name := fmt.Sprintf("s%d-%d", s.i, k)
	b.netns = "/run/netns/" + name
	s.boxes = append(s.boxes, b)
	_, err := s.n.Exec(ctx, "ip", "netns", "add", name)
	return b, err
}

// plug adds a sandbox; after a while, if that is not 0, the guard is killed.
func (s *sequence) plug(ctx context.Context, pod string, after time.Duration) error {
	b, err := s.open(ctx, pod)
	if err != nil {
		return err
	}
	a, err := s.call("ADD", b, b.netns, after)
	s.last[pod] = b
	switch {
	case err != nil:
		return err
	case a.killed:
		s.add("ADD killed")
		if b.unsure = true; s.r.IntN(2) == 0 { // otherwise the next step begins while it still runs
			return s.catchUp(ctx, b)
		}
		return s.recorded(b)
	case a.code != 0:
		return fmt.Errorf("ADD of %s failed", b)
	}
	s.add("ADD")
	b.claims, b.held, b.result = true, true, a.out
	if s.r.IntN(3) > 0 {
		return s.lure(pod)
	}
	return nil
}

// plugNowhere adds a sandbox without a namespace. A runtime then deletes it.
func (s *sequence) plugNowhere(ctx context.Context, pod string) error {
	b, err := s.open(ctx, pod)
	if err != nil {
		return err
	}
	s.add("ADD fails")
	s.last[pod] = b
	if a, err := s.call("ADD", b, b.netns+"-not", 0); err != nil || a.code == 0 {
		return fmt.Errorf("ADD of %s to no namespace: %d, %w", b, a.code, err)
	}
	return s.del(b)
}

// late returns whether the name has a newer owner. A sandbox without a record is never
// late.
func (s *sequence) late(b *box) (bool, error) {
	owners, _, err := s.record()
	if _, known := owners[b.id]; !known || err != nil {
		return false, err
	}
	return slices.ContainsFunc(s.boxes, func(o *box) bool { return o.pod == b.pod && o.order > b.order && o.claims }), nil
}

func (s *sequence) del(b *box) error {
	late, err := s.late(b)
	if err != nil {
		return err
	}
	netns := b.netns
	if s.r.IntN(3) == 0 {
		netns = ""
	}
	if !late {
		s.add("DEL")
		return s.deleted(b, netns, false)
	}
	s.add("DEL late")
	if err := s.lure(b.pod); err != nil {
		return err
	}
	return s.deleted(b, netns, true)
}

// lure gives the newer owner something that a late DEL could release.
func (s *sequence) lure(pod string) error {
	if s.named[pod] {
		return nil
	}
	return s.name(pod)
}

func (s *sequence) deleted(b *box, netns string, late bool) error {
	a, err := s.call("DEL", b, netns, 0)
	if err != nil || a.code != 0 {
		return fmt.Errorf("DEL of %s: %d, %w", b, a.code, err)
	}
	s.talk.Lock()
	defer s.talk.Unlock()
	b.held, b.claims = false, false
	s.named[b.pod] = s.named[b.pod] && late
	return nil
}

// cut kills the guard during a DEL.
func (s *sequence) cut(ctx context.Context, b *box, after time.Duration) error {
	late, err := s.late(b)
	if err != nil {
		return err
	}
	if late {
		if err := s.lure(b.pod); err != nil {
			return err
		}
	}
	a, err := s.call("DEL", b, b.netns, after)
	switch {
	case err != nil:
		return err
	case !a.killed && a.code != 0:
		return fmt.Errorf("DEL of %s: %d", b, a.code)
	}
	s.add(fmt.Sprintf("DEL killed late %v", late))
	if b.behind = true; s.last[b.pod] == b {
		delete(s.last, b.pod) // the endpoint may be gone before the address
	}
	if err := s.catchUp(ctx, b); err != nil || late {
		return err
	}
	return s.seen(ctx, b.pod)
}

// check only reads; the last owner of a name has everything that it was given.
func (s *sequence) check(b *box) error {
	if s.version == "0.3.1" || b.result == "" {
		return nil
	}
	s.add("CHECK")
	a, err := s.call("CHECK", b, b.netns, 0)
	if err != nil || a.code != 0 && b.held && s.last[b.pod] == b {
		return fmt.Errorf("CHECK of %s: %d, %w", b, a.code, err)
	}
	return nil
}

// end deletes all, in any order, and one of them twice. The owners of their names
// remain, if they are to stay.
func (s *sequence) end(ctx context.Context) error {
	all := slices.Clone(s.boxes)
	s.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var gone []*box
	for _, b := range append(all, all[0]) {
		if s.survives && b.held && !b.behind && b.result != "" && s.last[b.pod] == b {
			continue
		}
		if b.unsure {
			if err := s.settle(ctx, b); err != nil {
				return err
			}
		}
		if err := s.del(b); err != nil {
			return err
		}
		if err := s.compare(ctx); err != nil {
			return err
		}
		gone = append(gone, b)
	}
	slices.SortFunc(gone, func(a, b *box) int { return a.order - b.order })
	for _, b := range slices.Compact(gone) {
		if _, err := s.n.Exec(ctx, "ip", "netns", "del", strings.TrimPrefix(b.netns, "/run/netns/")); err != nil {
			return err
		}
	}
	return nil
}
