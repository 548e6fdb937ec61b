package host

import (
	"context"
	"errors"
	"fmt"
	"os"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/observe"
)

// A space is a mount namespace, with one of its processes and its mounts of interest.
type space struct {
	dir    string // procfs directory of that process
	pid    int
	name   string
	holder bool // a runtime or a kubelet is in it
	host   bool // the host's own, or one that the node's runtime or kubelet created for itself
	owner  owner
	mounts []mount
}

// Bounds on mount namespaces.
const (
	maxSpaces  = 4096
	maxPerRoom = 3 // processes kept per namespace, in case the first ends
)

// spaces returns the mount namespaces of the node, the host's first, with their mounts of interest.
func (h *Host) spaces(ctx context.Context) ([]space, error) { return h.spacesWith(ctx, ofInterest) }

func (h *Host) spacesWith(ctx context.Context, keep func(kind, target []byte) bool) ([]space, error) {
	in := byMountNS{members: map[string][]process{}, holder: map[string]bool{}}
	err := h.walk(ctx, few, func(p *process) {
		if p.State != 'Z' || p.alive() != 0 {
			ns, err := os.Readlink(h.dir(p) + "/ns/mnt")
			in.add(p, ns, hostfile.OfTask(h.dir(p), err))
		}
	})
	if err != nil {
		return nil, err
	}
	var out []space
	var failed error
	for _, ns := range in.order {
		s, err := h.space(in.members[ns], in.holder[ns], keep)
		if err != nil && !gone(err) {
			failed = err
		}
		if s != nil {
			out = append(out, *s)
		}
	}
	switch {
	case len(out) == 0 || out[0].pid != 1:
		return nil, errors.Join(errors.New("the host's own mount table cannot be read"), failed)
	case failed != nil:
		return out, fmt.Errorf("%w: %w", observe.ErrPartial, failed)
	case in.unread > 0:
		return out, fmt.Errorf("%w: the mount namespaces of %d processes cannot be read", observe.ErrPartial, in.unread)
	}
	return out, nil
}

// byMountNS are some processes of each mount namespace.
type byMountNS struct {
	order   []string // of their first processes
	members map[string][]process
	holder  map[string]bool
	unread  int // processes whose namespace is unknown, or one too many
}

// add sorts in a process by the link to its mount namespace, which may be unreadable.
func (b *byMountNS) add(p *process, ns string, err error) {
	switch {
	case err != nil && p.ID == 1:
		ns = "the host's" // we may lack the right to read its number
	case err != nil && gone(err):
		return
	case err != nil:
		b.unread++
		return
	}
	if len(b.members[ns]) == 0 {
		if len(b.order) == maxSpaces {
			b.unread++
			return
		}
		b.order = append(b.order, ns)
	}
	b.holder[ns] = b.holder[ns] || holders[p.Name]
	if len(b.members[ns]) < maxPerRoom {
		b.members[ns] = append(b.members[ns], *p)
	}
}

// space reads a namespace through the first of its processes that still exists.
func (h *Host) space(ps []process, holder bool, keep func(kind, target []byte) bool) (*space, error) {
	var failed error
	for i := range ps {
		p := &ps[i]
		s := space{dir: h.dir(p), pid: p.ID, name: p.Name, holder: holder}
		var err error
		s.mounts, err = readMountinfo(s.dir, keep)
		if err != nil && s.mounts == nil {
			failed = err
			continue
		}
		s.owner = readOwner(s.dir)
		s.host = p.ID == 1 || holder && s.owner == owner{}
		return &s, err
	}
	return nil, failed
}

func ofInterest(kind, target []byte) bool { return canHang(string(kind)) || mayBeState(target) }

// holders mount volumes of pods, some of them in a namespace of their own.
var holders = map[string]bool{
	"kubelet": true, "containerd": true, "crio": true, "dockerd": true, "docker-containe": true,
	"k3s": true, "k3s-server": true, "k3s-agent": true, "k0s": true, "rke2": true, "kubelite": true,
}
