package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/hostfile"
)

// A Filesystem is a file system that can hang, with everything that has it mounted.
type Filesystem struct {
	Device string      `json:"device"` // major:minor
	Type   string      `json:"type"`
	Source string      `json:"source"`
	Points []Point     `json:"points,omitempty"` // where the host has it
	Pods   []string    `json:"pods,omitempty"`   // UIDs of those that use it, in whatever mount namespace
	Server *FUSEServer `json:"server,omitempty"` // who serves it, if that is a process of this node
	Layers []string    `json:"layers,omitempty"` // what else lies on it: images of running containers, block devices
	Known  bool        `json:"known,omitempty"`  // Pods are all that can use it
}

// A FUSEServer is the process that serves a FUSE file system.
type FUSEServer struct {
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"` // in ticks since boot
	Name      string `json:"name"`
	PodUID    string `json:"podUID,omitempty"`
	Container string `json:"container,omitempty"`
}

// ErrGone means that the object to change does not exist any more.
var ErrGone = errors.New("it does not exist any more")

// Filesystem returns the file system of that name: its source, a path of a mount on the
// host, or its device, of which only the last is unique. Nil if there is none.
func (h *Host) Filesystem(ctx context.Context, name, device string) (*Filesystem, error) {
	spaces, err := h.spaces(ctx)
	if err != nil {
		return nil, err // also if only partial: a pod that could not be read may use it
	}
	var found []volume
	for _, v := range h.volumes(spaces) {
		if (device == "" || v.device() == device) && (v.device() == name || v.source == name || anyAt(spaces, v.device(), name)) {
			found = append(found, v)
		}
	}
	found = slices.CompactFunc(found, func(a, b volume) bool { return a.device() == b.device() })
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return h.filesystem(ctx, &found[0], spaces)
	default:
		return nil, fmt.Errorf("%d file systems are named %s: specify the device", len(found), name)
	}
}

func anyAt(spaces []space, device, target string) bool {
	return slices.ContainsFunc(spaces, func(s space) bool {
		return slices.ContainsFunc(s.mounts, func(m mount) bool { return m.device() == device && m.target == target })
	})
}

func (h *Host) filesystem(ctx context.Context, v *volume, spaces []space) (*Filesystem, error) {
	f := &Filesystem{Device: v.device(), Type: v.kind, Source: v.source}
	for _, s := range spaces { // by device only: it may have several sources
		for _, m := range s.mounts {
			if pod := userOf(s, m.target); m.device() == f.Device && pod != "" && !slices.Contains(f.Pods, pod) {
				f.Pods = append(f.Pods, pod)
			}
		}
	}
	slices.Sort(f.Pods)
	var err error
	if f.Layers, f.Known, err = h.users(ctx, f.Device); err != nil {
		return nil, err
	}
	all, err := h.points()
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.device == f.Device {
			f.Points = append(f.Points, Point{ID: p.ID, Target: p.Target})
		}
	}
	slices.SortFunc(f.Points, func(a, b Point) int { return cmp.Compare(a.ID, b.ID) })
	if isFUSE(v.kind) {
		if f.Server, err = h.serverProcess(ctx, v); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// serverProcess finds the process that serves a FUSE file system; nil if it is unknown.
func (h *Host) serverProcess(ctx context.Context, v *volume) (*FUSEServer, error) {
	told, err := h.fuseServer(ctx, v)
	at := strings.LastIndex(told, " pid ")
	if err != nil || at < 0 {
		return nil, err
	}
	pid, err := strconv.Atoi(told[at+len(" pid "):])
	if err != nil {
		return nil, fmt.Errorf("find the process that serves %s: %w", v.source, err)
	}
	dir := h.o.Proc + "/" + strconv.Itoa(pid)
	t, err := hostfile.ReadStat(dir, make([]byte, hostfile.MaxStat))
	if err != nil {
		return nil, nil // it has ended meanwhile
	}
	o := readOwner(dir)
	return &FUSEServer{PID: pid, Start: t.Start, Name: t.Name, PodUID: o.pod, Container: o.container}, nil
}

// equal reports whether it is the same file system, used and served by the same.
func (f *Filesystem) equal(o *Filesystem) bool {
	if o == nil || f.Device != o.Device || f.Type != o.Type || f.Source != o.Source || !slices.Equal(f.Pods, o.Pods) || f.Known != o.Known || !slices.Equal(f.Layers, o.Layers) || (f.Server == nil) != (o.Server == nil) {
		return false
	}
	same := func(a, b Point) bool { return a.ID == b.ID && a.Target == b.Target }
	return slices.EqualFunc(f.Points, o.Points, same) && (f.Server == nil || *f.Server == *o.Server)
}

// knows refuses if a pod uses it that is not in the plan.
func (f *Filesystem) knows(pods []string) error {
	for _, p := range f.Pods {
		if !slices.Contains(pods, p) {
			return fmt.Errorf("pod %s also uses %s and is not in the plan", p, f.Source)
		}
	}
	return nil
}

// again rereads it and compares.
func (h *Host) again(ctx context.Context, want *Filesystem) error {
	now, err := h.Filesystem(ctx, want.Device, want.Device)
	switch {
	case err != nil:
		return err
	case now == nil:
		return fmt.Errorf("%s: %w", want.Source, ErrGone)
	case !want.equal(now):
		return fmt.Errorf("%s has changed", want.Source)
	}
	return nil
}
