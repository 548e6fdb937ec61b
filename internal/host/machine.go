package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// ticks are those of a second in procfs: the same on every architecture of Linux today.
const ticks = 100

const calicoName = "/var/lib/calico/nodename"

// readMachine reads the state of the node as a whole.
func (h *Host) readMachine(ctx context.Context, f *model.NodeState) error {
	boot, err := hostfile.Read(h.o.Proc+"/sys/kernel/random/boot_id", maxLine)
	if err != nil {
		return fmt.Errorf("read the boot ID: %w", err)
	}
	up, err := hostfile.Read(h.o.Proc+"/uptime", maxLine)
	if err != nil {
		return fmt.Errorf("read the uptime: %w", err)
	}
	m := model.Machine{NodeName: h.o.NodeName, BootID: word(boot), Uptime: parseUptime(up)}
	if kernel, err := hostfile.Read(h.o.Proc+"/sys/kernel/osrelease", maxLine); err == nil {
		m.Kernel = word(kernel)
	}
	var missing error
	if link, err := os.Readlink(h.o.Proc + "/1/ns/net"); err == nil {
		m.NetNS = parseInode(link)
	} else {
		missing = fmt.Errorf("read the host's network namespace: %w", err)
	}
	// It may not exist: then Calico uses the host name.
	name, err := h.content(calicoName, maxLine)
	if err == nil {
		m.CalicoName = word(name)
	} else if !gone(err) {
		missing = also(missing, err)
	}
	it, err := h.findFelix(ctx)
	if err != nil {
		missing = also(missing, err)
	}
	if it != nil {
		m.Settings = it.set
	}
	if m.Felix = h.felixReady(ctx, it); m.Felix == "" && err == nil {
		m.Felix = "not running" // nothing answers, and no process may be it
	}
	m.Plugin = h.pluginVersion()
	if k := h.kubelet.Load(); k != nil {
		m.Kubelet = int64(min(k.start/ticks, 1<<40))
	}
	f.Machines = []model.Machine{m}
	if missing != nil {
		return fmt.Errorf("%w: %w", observe.ErrPartial, missing)
	}
	return nil
}

// word is a short text without the white space around it.
func word(b []byte) string {
	s := strings.TrimSpace(string(b))
	return strings.ToValidUTF8(s[:min(len(s), maxValue)], "")
}

// parseUptime reads the whole seconds of "12345.67 8910.11".
func parseUptime(b []byte) int64 {
	whole, _, _ := bytes.Cut(b, []byte("."))
	n, ok := number(whole)
	if !ok || n > 1<<40 {
		return 0
	}
	return int64(n)
}

// parseInode reads the number in "net:[4026531840]".
func parseInode(link string) uint64 {
	_, rest, _ := strings.Cut(link, ":[")
	n, _ := number([]byte(strings.TrimSuffix(rest, "]")))
	return n
}
