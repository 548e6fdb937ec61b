package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const (
	hostLocalDir = "/var/lib/cni/networks" // of the plugin host-local; a directory for each network
	maxNetworks  = 64
)

// readHostLocal reads the addresses that host-local has given: a file for each.
func (h *Host) readHostLocal(ctx context.Context, f *model.NodeState) error {
	networks, err := h.networks()
	if err != nil && !errors.Is(err, observe.ErrPartial) {
		return err
	}
	for _, network := range networks {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(f.HostLocal) >= maxResults {
			return also(err, fmt.Errorf("%w: more than %d files in %s", observe.ErrPartial, maxResults, hostLocalDir))
		}
		names, more := h.files(path.Join(hostLocalDir, network), maxResults, isAddress)
		if more != nil && !errors.Is(more, observe.ErrNotThere) {
			err = also(err, fmt.Errorf("%w: %w", observe.ErrPartial, more))
		}
		for _, name := range names {
			b, unread := h.content(path.Join(hostLocalDir, network, name), maxLine)
			switch {
			case errors.Is(unread, fs.ErrNotExist): // removed meanwhile, with its pod
			case unread != nil:
				err = also(err, fmt.Errorf("%w: %w", observe.ErrPartial, unread))
			default:
				f.HostLocal = append(f.HostLocal, parseReserved(network, name, b))
			}
		}
	}
	return err
}

// networks are the networks of host-local on this node.
func (h *Host) networks() ([]string, error) {
	d, err := hostfile.Root(h.o.Root).Open(hostLocalDir, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", observe.ErrNotThere, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	entries, err := d.ReadDir(maxNetworks)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	if len(entries) == maxNetworks {
		return out, fmt.Errorf("%w: more than %d networks in %s", observe.ErrPartial, maxNetworks-1, hostLocalDir)
	}
	return out, nil
}

// isAddress reports whether a file is that of an address; there are a lock and the last address, too.
func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// parseReserved reads the two lines of a file: the sandbox, and since version 0.7 the interface.
func parseReserved(network, name string, b []byte) model.Reserved {
	r := model.Reserved{Network: word([]byte(network))}
	r.IP, _ = netip.ParseAddr(name)
	sandbox, dev, _ := bytes.Cut(b, []byte("\n"))
	r.Sandbox, r.Interface = word(sandbox), word(dev)
	return r
}
