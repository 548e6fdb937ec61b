package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

// longEnough is how long an interface must have been observed unchanged, unless the plan
// asks for less: interfaces carry no creation time.
const longEnough = 10 * time.Minute

// unlink deletes the host veth of a pod that is gone. Args: index, as in the plan; peerNS,
// the namespace that according to the plan only a file pins; seen, for how many seconds it
// must have been unchanged.
func (s *Server) unlink(ctx context.Context, t *readState, args map[string]string, dry bool) (bool, error) {
	c, ok := t.body.(*kernel.HostVeth)
	if !ok {
		return false, errors.New("not an interface")
	}
	index, err := number(args, "index")
	if err != nil || index != c.Index {
		return false, errors.Join(err, fmt.Errorf("%s has index %d, not %.20s", c.Name, c.Index, args["index"]))
	}
	u := kernel.Unlinking{HostVeth: *c, Dry: dry}
	if args["peerNS"] != "" {
		if u.Pin, err = strconv.ParseUint(args["peerNS"], 10, 64); err != nil {
			return false, fmt.Errorf("peerNS: %w", err)
		}
	}
	least := longEnough
	if args["seen"] != "" {
		n, err := number(args, "seen")
		if err != nil {
			return false, err
		}
		least = time.Duration(n) * time.Second
	}
	if err := s.lasts(c.Index, c.Name, least); err != nil {
		return false, err
	}
	u.Check = func(ctx context.Context, routes []model.Route) error {
		f, err := s.fresh(ctx, model.Sandboxes, model.Attachments, model.CNIConfigs)
		if err != nil {
			return err
		}
		if err := ofNobody(c, f, routes); err != nil {
			return err
		}
		return s.quiet(ctx)
	}
	return kernel.Unlink(ctx, s.writer.Kernel, u)
}

// ofNobody refuses an interface that belongs to a sandbox in any state, or that packets to
// a pod in use go through, and every interface if the loaded network is not Calico's.
func ofNobody(c *kernel.HostVeth, f *model.NodeState, routes []model.Route) error {
	if !slices.ContainsFunc(f.CNIConfigs, func(c model.CNIConfig) bool { return c.Loaded && slices.Contains(c.Plugins, "calico") }) {
		return errors.New("the runtime's loaded network is not known to be Calico's")
	}
	if err := ofNoSandbox(c, f.Sandboxes); err != nil {
		return err
	}
	for i := range f.Attachments {
		a := &f.Attachments[i]
		if !inUse(a) {
			continue
		}
		if a.Inode == c.PeerNS {
			return fmt.Errorf("the network namespace behind %s is in use", c.Name)
		}
		for _, r := range routes {
			if r.Dst.IsSingleIP() && a.Has(r.Dst.Addr()) {
				return fmt.Errorf("packets to %s go through %s, and a pod in use has that address", r.Dst.Addr(), c.Name)
			}
		}
	}
	return nil
}

func ofNoSandbox(c *kernel.HostVeth, sandboxes []model.Sandbox) error {
	for i := range sandboxes {
		b := &sandboxes[i]
		switch {
		case b.HostNetwork:
		case b.Inode != 0 && b.Inode == c.PeerNS, b.NetNS != "" && b.NetNS == c.Pinned:
			return fmt.Errorf("the network namespace behind %[4]s belongs to sandbox %.12[1]s of %[2]s/%[3]s", b.ID, b.Namespace, b.Pod, c.Name)
		case b.Ready && b.Inode == 0:
			return fmt.Errorf("the network namespace of sandbox %.12s is unknown: it may be behind %s", b.ID, c.Name)
		}
	}
	return nil
}
