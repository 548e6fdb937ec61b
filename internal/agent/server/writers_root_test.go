package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

// writerEnv makes this program one that deletes routes: those of its arguments, or of each line.
const writerEnv = "PLUMBLINE_SERVER_TEST_WRITER"

func init() {
	how := os.Getenv(writerEnv)
	if how == "" {
		return
	}
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		panic(err)
	}
	remove := func(text string) {
		ip, n, err := net.ParseCIDR(text)
		if err != nil {
			panic(err)
		}
		n.IP = ip
		if err := h.RouteDel(&netlink.Route{Dst: n, Scope: netlink.SCOPE_LINK}); err != nil {
			panic(err)
		}
	}
	if how == "stay" {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Fprintln(os.Stdout, "done") {
			remove(in.Text())
		}
		os.Exit(0)
	}
	remove(how)
	if stay, err := time.ParseDuration(os.Getenv("STAY")); err == nil {
		time.Sleep(stay)
	}
	os.Exit(0)
}

// A longWriter is a process that stays, in a PID namespace of its own as Felix is.
type longWriter struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func newLongWriter(t *testing.T, name string) *longWriter {
	t.Helper()
	self, err := os.Readlink("/proc/self/exe")
	must(t, err)
	path := "/run/" + name
	must(t, os.Symlink(self, path))
	cmd := exec.CommandContext(t.Context(), path)
	cmd.Env = []string{writerEnv + "=stay"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &longWriter{cmd, in, bufio.NewScanner(out)}
}

func (w *longWriter) remove(dst string) { fmt.Fprintln(w.in, dst); w.out.Scan() }

// TestRootWhoDidIt: routes are removed at random by a process like Felix, by a CNI plugin, by a
// program that ends at once, and by the end of their interface. Each is named rightly or not at all.
func TestRootWhoDidIt(t *testing.T) {
	if !aloneUnlessBusy(t, 5) {
		return
	}
	const tries = 20 // -count=5 for a hundred
	dir := filepath.Join(t.TempDir(), "events")
	h := host.New(host.Options{})
	s := New(Config{
		Node: "n1", Record: dir, Log: slog.New(slog.DiscardHandler), Now: now, Collectors: kernel.Collectors(kernel.Options{}), Process: host.NewWriters(h).Name,
		Kernel: func(ctx context.Context, to kernel.Listener) error { return kernel.Watch(ctx, kernel.Options{}, to) },
	})
	felix := newLongWriter(t, "calico-felix")
	want := map[string]string{} // by destination
	add := func(kind string, i int, link netlink.Link) string {
		dst := fmt.Sprintf("10.%d.%d.%d/32", len(kind), i/250, 1+i%250)
		must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: cidr(t, dst), Scope: netlink.SCOPE_LINK}))
		return dst
	}
	veth := func(name string) netlink.Link {
		must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: "p" + name}))
		l, err := netlink.LinkByName(name)
		must(t, err)
		must(t, netlink.LinkSetUp(l))
		return l
	}
	common := veth("cali0")
	once := func(dst string, env ...string) int {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
		cmd.Env = slices.Concat(env, []string{writerEnv + "=" + dst})
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return cmd.Process.Pid
	}
	var acts []func()
	for i := range tries {
		name := fmt.Sprintf("cali1%03d", i)
		own := veth(name)
		byFelix, byPlugin, byOther, byLink := add("a", i, common), add("bb", i, common), add("ccc", i, common), add("dddd", i, own)
		acts = append(acts,
			func() { felix.remove(byFelix); want[byFelix] = fmt.Sprintf("Felix (pid %d)", felix.cmd.Process.Pid) },
			func() {
				pid := once(byPlugin, "CNI_COMMAND=DEL", "CNI_CONTAINERID=0123456789abcdef", "STAY="+(time.Duration(rand.N(60))*time.Millisecond).String())
				want[byPlugin] = fmt.Sprintf("DEL of sandbox 0123456789ab (pid %d)", pid)
			},
			func() { want[byOther] = fmt.Sprintf("server.test (pid %d)", once(byOther)) },
			func() { must(t, netlink.LinkDel(own)); want[byLink] = "interface " + name + " vanished" },
		)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	for end := now().Add(time.Minute); len(s.store.snapshot(now(), model.Routes).NodeState["n1"].Routes) < 4*tries; time.Sleep(10 * time.Millisecond) {
		if now().After(end) {
			t.Fatal("routes are not read")
		}
	}
	rand.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	for _, act := range acts {
		act()
		time.Sleep(time.Duration(rand.N(15)) * time.Millisecond) // some together, some apart
	}
	for end := now().Add(30 * time.Second); now().Before(end) && len(s.store.snapshot(now(), model.Routes).NodeState["n1"].Routes) > 0; time.Sleep(10 * time.Millisecond) {
	}
	time.Sleep(time.Second)
	cancel()
	<-done
	named, unknown, wrong := map[int]int{}, map[int]int{}, 0
	_, err := eventlog.Read(dir, func(e eventlog.Entry) error {
		dst := strings.Fields(e.Name)[0]
		if e.Of != "routes" || e.What != "gone" || want[dst] == "" {
			return nil
		}
		kind := int(dst[3] - '1')
		switch {
		case e.Writer == "":
			unknown[kind]++
		case strings.Contains(e.Writer, want[dst]):
			named[kind]++
		default:
			wrong++
			t.Errorf("%s: %q, want %q", dst, e.Writer, want[dst])
		}
		return nil
	})
	must(t, err)
	for kind, who := range []string{"a process like Felix", "a CNI plugin", "a program that ends at once", "the end of its interface"} {
		t.Logf("removed by %s: %d named, %d unknown", who, named[kind], unknown[kind])
		if named[kind]+unknown[kind] != tries {
			t.Errorf("%s: %d of %d are in the event log", who, named[kind]+unknown[kind], tries)
		}
	}
	if t.Failed() {
		return // that has no excuse
	}
	if unknown[0] > tries/10 || unknown[3] > tries/10 { // none to one in twenty on a machine that does nothing else
		t.Errorf("%s: too many are unknown: %v", busy, unknown)
	}
}
