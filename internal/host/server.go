package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// A server is what serves a file system, as far as it is known.
type server struct {
	name   string
	at     time.Duration // when it was searched
	denial error         // why it is unknown, if a right is missing
}

// Bounds of the search for the process behind a FUSE mount.
const (
	maxLinks      = 100_000
	lookAgainFor  = time.Minute
	fuseDevice    = "/dev/fuse"
	fuseConnected = "fuse_connection:"
)

var errEnough = errors.New("enough links read")

// server returns what should answer: the host of a network file system, or the process that
// serves a FUSE one. That process is searched only if its mount is silent. The error
// reports that the search failed.
func (h *Host) server(ctx context.Context, v *volume, silent bool) (string, error) {
	host := serverOf(v.kind, v.source)
	if !isFUSE(v.kind) || !silent {
		return host, nil
	}
	s, known := h.servers[v.device()]
	if !known || h.now()-s.at >= lookAgainFor {
		s.name, s.denial = h.fuseServer(ctx, v)
		s.at = h.now()
		h.servers[v.device()] = s
	}
	return cmp.Or(s.name, host), s.denial
}

// fuseServer finds the process that has the mount's FUSE device open. Newer kernels report
// the connection of a device; else the process is reported only if it is the only candidate
// and all processes could be read.
func (h *Host) fuseServer(ctx context.Context, v *volume) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	_, subtype, _ := strings.Cut(v.kind, ".")
	links := 0
	var sure, named, some []string
	var denial error
	_ = h.walk(ctx, few, func(p *process) {
		dir := filepath.Join(h.o.Proc, strconv.Itoa(p.ID))
		fds, _, err := hostfile.Numbers(dir+"/fd", maxOpen)
		denial = cmp.Or(denial, denied(err))
		for _, fd := range fds {
			if links++; links > maxLinks {
				cancel(errEnough)
				return
			}
			n := strconv.Itoa(fd)
			to, err := os.Readlink(dir + "/fd/" + n)
			denial = cmp.Or(denial, denied(err))
			if err != nil || to != fuseDevice {
				continue
			}
			who := p.Name + " pid " + strconv.Itoa(p.ID)
			if c, told := connectionOf(dir + "/fdinfo/" + n); told {
				if c == v.major<<20|v.minor {
					sure = append(sure, who)
				}
				continue
			}
			some = append(some, who)
			if subtype != "" && strings.HasPrefix(p.Name, subtype) {
				named = append(named, who)
			}
			return
		}
	})
	switch {
	case len(sure) > 0:
		return sure[0], nil
	case denial != nil:
		return "", fmt.Errorf("look for the process that serves %s: %w", v.mount.target, denial)
	case ctx.Err() != nil:
		return "", nil // the search was incomplete: another may have it
	case len(named) == 1:
		return named[0], nil
	case len(some) == 1:
		return some[0], nil
	}
	return "", nil
}

// connectionOf reads the FUSE connection of a descriptor, if the kernel reports it.
func connectionOf(fdinfo string) (int, bool) {
	b, err := hostfile.Read(fdinfo, maxLine)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		if v, ok := bytes.CutPrefix(line, []byte(fuseConnected)); ok {
			n, ok := number(bytes.TrimSpace(v))
			return int(n), ok
		}
	}
	return 0, false
}
