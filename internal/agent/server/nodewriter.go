package server

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

// A NodeWriter is what an agent changes its node with.
type NodeWriter struct {
	Kernel kernel.Options
	Host   *host.Host
	CRI    *cri.Client
}

// verbsOf lists all changes that an agent can make on its node.
func verbsOf(s *Server) map[string]verb {
	return map[string]verb{
		"unlink":      {model.KindLink, true, s.unlink},
		"unneighbour": {model.KindNeighbour, true, s.unneighbour},
		"unroute":     {model.KindPath, true, s.unroute},
		"sysctl":      {model.KindSysctl, false, s.sysctl},
		"abort":       {model.KindMount, true, s.abort},
		"remove":      {model.KindSandbox, true, s.remove},
	}
}

// reread reads the object of a reference, not from the cache; nil if it does not exist.
// After the node's name, names are those of findings: INTERFACE, ADDRESS/INTERFACE,
// ADDRESS, INTERFACE/KEY, source or target of a mount, and a full sandbox ID.
func (h *NodeWriter) reread(ctx context.Context, ref model.Ref, args map[string]string) (*readState, error) {
	_, name, _ := strings.Cut(ref.Name, "/")
	first, second, _ := strings.Cut(name, "/")
	switch ref.Kind {
	case model.KindLink:
		c, err := kernel.ReadHostVeth(ctx, h.Kernel, name)
		return found(c, err, func() string {
			return fmt.Sprintf("%s %s, index %d, peer %d in network namespace %d", c.Kind, c.Name, c.Index, c.Peer, c.PeerNS)
		})
	case model.KindNeighbour:
		ip, err := plainAddr(first)
		if err != nil {
			return nil, err
		}
		n, err := kernel.ReadNear(ctx, h.Kernel, ip, second)
		return found(n, err, func() string { return fmt.Sprintf("%s on %s is %s, %s", n.IP, n.Device, n.MAC, n.State) })
	case model.KindPath:
		ip, err := plainAddr(name)
		if err != nil {
			return nil, err
		}
		w, err := kernel.ReadHostRoutes(ctx, h.Kernel, ip)
		return found(w, err, func() string { return fmt.Sprintf("%d routes to %s", len(w.Routes), ip) })
	case model.KindSysctl:
		v, err := kernel.ReadSetting(ctx, h.Kernel, first, second, args["ipv6"] != "")
		return found(v, err, func() string { return fmt.Sprintf("%s of %s is %s", v.Key, v.Device, v.Value) })
	case model.KindMount:
		f, err := h.Host.Filesystem(ctx, name, args["device"])
		return found(f, err, func() string {
			return fmt.Sprintf("%s %s, device %s, %d mounts on the host, used by %d pods", f.Type, f.Source, f.Device, len(f.Points), len(f.Pods))
		})
	case model.KindSandbox:
		if !isFullID(name) {
			return nil, errors.New("use the full ID of the sandbox")
		}
		b, err := h.CRI.SandboxStatus(ctx, name)
		return found(b, err, func() string {
			return fmt.Sprintf("sandbox of %s/%s, UID %s, with %d containers", b.Namespace, b.Pod, b.UID, len(b.Containers))
		})
	default:
		return nil, fmt.Errorf("no change is supported for a %.40q", ref.Kind)
	}
}

// found wraps what was read. A nil *T must become a nil *readState, not an interface that
// holds a nil pointer.
func found[T any](body *T, err error, says func() string) (*readState, error) {
	if err != nil || body == nil {
		return nil, err
	}
	return &readState{body: body, says: says()}, nil
}

func plainAddr(text string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(text)
	if err == nil && (ip.Zone() != "" || ip.Is4In6()) {
		err = errors.New("not a pod address")
	}
	if err != nil {
		return ip, fmt.Errorf("%.60q: %w", text, err)
	}
	return ip, nil
}

// number reads a required argument.
func number(args map[string]string, name string) (int, error) {
	n, err := strconv.Atoi(args[name])
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s: %.40q is not a number", name, args[name])
	}
	return n, nil
}

// list reads a comma-separated argument.
func list(args map[string]string, name string) []string {
	if args[name] == "" {
		return nil
	}
	return strings.Split(args[name], ",")
}

func isGone(err error) bool {
	return errors.Is(err, kernel.ErrGone) || errors.Is(err, host.ErrGone) || errors.Is(err, cri.ErrGone)
}
