package server

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const aloneEnv = "PLUMBLINE_SERVER_TEST_ALONE"

// The first thread is only main's, so that /proc/1/ns is the host's.
func init() {
	if os.Getenv(aloneEnv) != "" {
		runtime.LockOSThread()
	}
}

// alone gives a test network, mount and PID namespaces of its own, in a copy of this program.
func alone(t *testing.T) bool {
	t.Helper()
	return aloneUnlessBusy(t, 1)
}

// busy is what a copy says that measured too much besides itself.
const busy = "the machine was too busy"

// aloneUnlessBusy is alone, and tries again where the copy fails and says that it was busy.
func aloneUnlessBusy(t *testing.T, tries int) bool {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		for _, err := range []error{
			unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("proc", "/proc", "proc", 0, ""),
			unix.Mount("tmpfs", "/run", "tmpfs", 0, ""), os.MkdirAll("/run/netns", 0o755),
		} {
			must(t, err)
		}
		return true
	}
	runtime.LockOSThread() // the copy dies with the thread that started it
	defer runtime.UnlockOSThread()
	for {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1", "-test.timeout=10m")
		cmd.Env = append(os.Environ(), aloneEnv+"="+t.Name())
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID, Pdeathsig: unix.SIGKILL}
		out, err := cmd.CombinedOutput()
		t.Log(string(out))
		if err == nil && strings.Contains(string(out), "--- PASS: "+t.Name()) {
			return false
		}
		if tries--; tries == 0 || !strings.Contains(string(out), busy) {
			t.Fatalf("the copy: %v", err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A stand is a node whose kernel is real, and whose runtime a test plays.
type stand struct {
	*testing.T
	*Server
	fleet *agent.Fleet

	mu        sync.Mutex
	sandboxes []model.Sandbox
	cni       []model.Process
	plugins   []string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	d := &stand{T: t, plugins: []string{"calico", "portmap"}}
	play := func(table model.Table, fill func(*model.NodeState)) observe.NodeCollector {
		return observe.NodeCollector{Name: table.String(), Tables: []model.Table{table}, Read: func(_ context.Context, f *model.NodeState) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			fill(f)
			return nil
		}}
	}
	d.Server = New(Config{
		Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now, Writer: &NodeWriter{},
		Calls: func(context.Context) ([]model.Process, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.cni, nil
		},
		Collectors: append(kernel.Collectors(kernel.Options{}),
			play(model.Sandboxes, func(f *model.NodeState) { f.Sandboxes = d.sandboxes }),
			play(model.CNIConfigs, func(f *model.NodeState) { f.CNIConfigs = []model.CNIConfig{{Loaded: true, Plugins: d.plugins}} }),
		),
	})
	d.fleet = fleet(d.handler())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Server.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return d
}

func cidr(t *testing.T, s string) *net.IPNet {
	t.Helper()
	ip, n, err := net.ParseCIDR(s)
	must(t, err)
	n.IP = ip
	return n
}

// wire makes a namespace that a file pins, with an address, and its device on the host.
func (d *stand) wire(device, ip string) (index int, inode uint64) {
	d.Helper()
	path := "/run/netns/" + device
	must(d.T, os.WriteFile(path, nil, 0o600))
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread is not used again
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, "")
		}
		done <- err
	}()
	must(d.T, <-done)
	ns, err := netns.GetFromPath(path)
	must(d.T, err)
	defer ns.Close()
	must(d.T, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: device}, PeerName: "eth0", PeerNamespace: netlink.NsFd(ns)}))
	host, err := netlink.LinkByName(device)
	must(d.T, err)
	must(d.T, netlink.LinkSetUp(host))
	h, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	must(d.T, err)
	defer h.Close()
	eth0, err := h.LinkByName("eth0")
	must(d.T, err)
	must(d.T, h.AddrAdd(eth0, &netlink.Addr{IPNet: cidr(d.T, ip)}))
	must(d.T, netlink.RouteAdd(&netlink.Route{LinkIndex: host.Attrs().Index, Dst: cidr(d.T, ip), Scope: netlink.SCOPE_LINK}))
	var st unix.Stat_t
	must(d.T, unix.Stat(path, &st))
	return host.Attrs().Index, st.Ino
}

// play changes what the runtime says.
func (d *stand) play(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// do changes a thing as it is now, and gives what came of it in a word.
func (d *stand) do(verb string, kind model.Kind, name string, args ...string) string {
	d.Helper()
	ref := model.Ref{Kind: kind, Name: "n1/" + name}
	thing, err := d.fleet.NodeObject(d.Context(), ref, nil)
	if err != nil {
		return err.Error()
	}
	c := agent.Change{Verb: verb, Ref: ref, Expect: thing.Digest, Args: map[string]string{}}
	for i := 0; i+1 < len(args); i += 2 {
		c.Args[args[i]] = args[i+1]
	}
	if c.Expect == "" {
		c.Expect = "it was there"
	}
	got, err := d.fleet.Change(d.Context(), c)
	switch {
	case err != nil:
		return err.Error()
	case got.Done:
		return "done"
	case got.Already:
		return "already"
	}
	return got.Refused
}

func (d *stand) want(what, got, want string) {
	d.Helper()
	if !strings.Contains(got, want) {
		d.Errorf("%s: %s, want %s", what, got, want)
	}
}
