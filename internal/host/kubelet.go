package host

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// kubeletNames are the process names of kubelets, also of those inside another program.
var kubeletNames = map[string]bool{"kubelet": true, "kubelite": true, "k3s-server": true, "k3s-agent": true}

// A kubelet is the node's kubelet as it runs. The zero kubelet means that there is none.
type kubelet struct {
	pid   int
	start uint64 // in ticks after boot
	name  string
	args  string // its arguments, separated by spaces; empty if they could not be read
}

// Files in which kubelets are configured.
var kubeletConfigs = []string{
	"/var/lib/kubelet/instance-config.yaml", "/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env",
	"/etc/kubernetes/kubelet.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet",
}

// kubeletFile are the arguments that name a file with more of them.
var kubeletFile = regexp.MustCompile(`--(?:config|kubelet-args-file)[= ]["']?(/[^\s"',}]+)`)

// kubeletWithin bounds the search for the kubelet.
const kubeletWithin = time.Second

// kubeletSays returns what an expression finds first in the kubelet's configuration: in the
// arguments of the one that runs, then in the files that they name, then in the usual ones.
func (h *Host) kubeletSays(what *regexp.Regexp) string {
	args := h.runningKubelet().args
	if m := what.FindStringSubmatch(args); m != nil {
		return m[1]
	}
	var files []string
	for _, m := range kubeletFile.FindAllStringSubmatch(args, -1) {
		files = append(files, m[1])
	}
	for _, file := range append(files, kubeletConfigs...) {
		text, err := h.content(file, maxJSON)
		if err != nil {
			continue
		}
		// MicroK8s has a variable of its snap in there.
		text = bytes.ReplaceAll(text, []byte("${SNAP_COMMON}"), []byte("/var/snap/microk8s/common"))
		if m := what.FindSubmatch(text); m != nil {
			return string(m[1])
		}
	}
	return ""
}

// runningKubelet returns the kubelet that runs now. It looks for it only if the one that was
// found before has ended.
func (h *Host) runningKubelet() kubelet {
	k := h.kubelet.Load()
	if k != nil && k.pid != 0 {
		t, err := hostfile.ReadStat(h.pidDir(k.pid), make([]byte, hostfile.MaxStat))
		if err == nil && t.Start == k.start {
			return *k
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), kubeletWithin)
	defer cancel()
	if h.procs.take(ctx) != nil {
		return kubelet{}
	}
	defer h.procs.leave()
	var it *process
	if h.walk(ctx, few, func(p *process) { it = h.olderKubelet(p, it) }) != nil {
		return kubelet{}
	}
	return h.noteKubelet(ctx, it)
}

// olderKubelet returns the older of two kubelets; p may be any process. One in a container is
// none.
func (h *Host) olderKubelet(p, than *process) *process {
	if kubeletNames[p.Name] && p.State != 'Z' && !h.nested(p) && older(p, than) {
		return p
	}
	return than
}

// noteKubelet keeps what is known of the kubelet; it is nil if there is none.
func (h *Host) noteKubelet(ctx context.Context, p *process) kubelet {
	var k kubelet
	if p != nil {
		k = kubelet{pid: p.ID, start: p.Start, name: p.Name}
		if last := h.kubelet.Load(); last != nil && last.pid == k.pid && last.start == k.start {
			k.args = last.args
		}
		if k.args == "" {
			if b, err := h.memoryOf(ctx, p, "cmdline"); err == nil {
				k.args = strings.ReplaceAll(string(b), "\x00", " ")
			}
		}
	}
	h.kubelet.Store(&k)
	return k
}

// KubeletStart is when the node's kubelet started; zero if it was not found yet.
func (h *Host) KubeletStart() time.Time {
	k := h.kubelet.Load()
	up, err := hostfile.Read(h.o.Proc+"/uptime", maxLine)
	if k == nil || k.pid == 0 || err != nil {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(int64(k.start/ticks)-parseUptime(up)) * time.Second) //nolint:forbidigo // the node's own clock
}
