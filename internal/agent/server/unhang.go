package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/model"
)

// abort ends the connection of a FUSE file system that does not answer. Args: device; pods: those
// that use it according to the plan; seen: for how many seconds it must not have answered.
func (s *Server) abort(ctx context.Context, t *readState, args map[string]string, dry bool) (bool, error) {
	f, err := s.silent(ctx, t, args)
	if err != nil {
		return false, err
	}
	return s.writer.Host.Abort(ctx, *f, list(args, "pods"), dry)
}

// hungFor is how long requests must have waited without a break until a file system is aborted,
// unless whoever made the plan asked for less (--settle).
const hungFor = 2 * time.Minute

// shortest is the least that a plan may ask for.
const shortest = 2 * time.Second

// silent checks again whether a file system answers: one that does, or that hangs only for a
// moment, is not changed.
func (s *Server) silent(ctx context.Context, t *readState, args map[string]string) (*host.Filesystem, error) {
	f, ok := t.body.(*host.Filesystem)
	if !ok || args["device"] != f.Device {
		return nil, errors.New("its device is not the one in the plan")
	}
	least := hungFor
	if args["seen"] != "" {
		n, err := number(args, "seen")
		if err != nil {
			return nil, err
		}
		least = max(time.Duration(n)*time.Second, shortest)
	}
	facts, err := s.fresh(ctx, model.Mounts)
	if err != nil {
		return nil, err
	}
	for _, m := range facts.Mounts {
		switch {
		case m.Device != f.Device || m.Dead != "":
		case m.Silent && m.Waits < int64(least.Seconds()):
			return nil, fmt.Errorf("%s has not answered for %ds; it is aborted after %s without an answer", f.Source, m.Waits, least)
		case m.Silent:
			return f, nil
		default:
			return nil, fmt.Errorf("%s answers again: %w", f.Source, errAlready)
		}
	}
	return nil, fmt.Errorf("it is unknown whether %s answers", f.Source)
}

// remove removes a sandbox whose pod is verified gone by the plan. Args: uid of that pod,
// and containers: those that still run in it according to the plan. It refuses while the kubelet
// has the pod: whoever has the right to repair must not end pods past their disruption budgets.
func (s *Server) remove(ctx context.Context, t *readState, args map[string]string, dry bool) (bool, error) {
	b, ok := t.body.(*cri.SandboxStatus)
	if !ok || args["uid"] != b.UID {
		return false, errors.New("its pod is not the one in the plan")
	}
	switch has, err := s.writer.Host.KubeletHas(b.UID); {
	case err != nil:
		return false, err
	case has:
		return false, fmt.Errorf("the kubelet still has pod %s/%s (%s): it removes the sandbox itself", b.Namespace, b.Pod, b.UID)
	}
	known := list(args, "containers")
	return s.writer.CRI.Remove(ctx, *b, func(ctx context.Context) error {
		for _, k := range b.Containers {
			alive := k.State == "running" && (k.PID == 0 || s.writer.Host.ProcessRunning(k.PID)) || k.State == "unknown"
			if alive && !slices.Contains(known, k.ID) {
				return fmt.Errorf("container %s of %s/%s is running and is not in the plan", k.Name, b.Namespace, b.Pod)
			}
		}
		return s.nameIsFree(ctx, b)
	}, dry)
}

// nameIsFree refuses while the pod's name has another sandbox on the node, or gets one: the DEL
// of the old sandbox carries that name.
func (s *Server) nameIsFree(ctx context.Context, b *cri.SandboxStatus) error {
	f, err := s.fresh(ctx, model.Sandboxes)
	if err != nil {
		return err
	}
	for i := range f.Sandboxes {
		if o := &f.Sandboxes[i]; o.ID != b.ID && o.Namespace == b.Namespace && o.Pod == b.Pod && (o.Ready || o.Inode != 0) {
			return fmt.Errorf("%s/%s has another sandbox, %.12s", b.Namespace, b.Pod, o.ID)
		}
	}
	calls, err := s.calls(ctx)
	if err != nil {
		return fmt.Errorf("list the running CNI calls: %w", err)
	}
	for i := range calls {
		switch p := &calls[i]; {
		case p.CNI == b.ID || p.CNI == "":
			return errors.New("a CNI call for this sandbox is running")
		case p.Pod == b.Namespace+"/"+b.Pod || p.Pod == "":
			return fmt.Errorf("a CNI call for %s/%s is running", b.Namespace, b.Pod)
		}
	}
	return nil
}
