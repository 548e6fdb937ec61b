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

// longEnough is for how long a device must have been seen as it is, unless the plan says
// less: links carry no date.
const longEnough = 10 * time.Minute

// unlink deletes a device of a pod that is gone. Args: index, as the plan has it; peerNS,
// the namespace that the plan knows to be pinned by a file and nothing else; seen, for how
// many seconds it must have been as it is.
func (s *Server) unlink(ctx context.Context, t *readState, args map[string]string, dry bool) (bool, error) {
	c, ok := t.body.(*kernel.HostVeth)
	if !ok {
		return false, errors.New("not a device")
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

// ofNobody refuses a device that a sandbox has, in whatever state, or that packets to
// somebody who lives go by; and any device where the network is not Calico's.
func ofNobody(c *kernel.HostVeth, f *model.NodeState, routes []model.Route) error {
	if !slices.ContainsFunc(f.CNIConfigs, func(c model.CNIConfig) bool { return c.Loaded && slices.Contains(c.Plugins, "calico") }) {
		return errors.New("the network that the runtime uses is not known to be Calico's")
	}
	for i := range f.Sandboxes {
		b := &f.Sandboxes[i]
		switch {
		case b.HostNetwork:
		case b.Inode != 0 && b.Inode == c.PeerNS, b.NetNS != "" && b.NetNS == c.Pinned:
			return fmt.Errorf("sandbox %.12s of %s/%s has what is behind %s", b.ID, b.Namespace, b.Pod, c.Name)
		case b.Ready && b.Inode == 0:
			return fmt.Errorf("the namespace of sandbox %.12s is not known: it may be behind %s", b.ID, c.Name)
		}
	}
	for i := range f.Attachments {
		a := &f.Attachments[i]
		if a.Inode == c.PeerNS {
			if processLines(a) {
				return fmt.Errorf("somebody lives behind %s", c.Name)
			}
			continue
		}
		for _, r := range routes {
			if r.Dst.IsSingleIP() && a.Has(r.Dst.Addr()) && processLines(a) {
				return fmt.Errorf("packets to %s go by %s, and somebody lives who has that address", r.Dst.Addr(), c.Name)
			}
		}
	}
	return nil
}
