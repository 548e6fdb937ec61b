//go:build e2e

package release

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	machines = flag.Int("machines", 0, "how many of the two nodes are emulated machines")
	machine  = flag.String("machine", "debian12", "what they are")
)

const (
	before = "0.1.0-rc.1"
	after  = "0.1.0-rc.2"
	// maxGap is how long a node's state may be missing while its agent is replaced: it has 20 s to end.
	maxGap = time.Minute
)

// TestFromArtifacts is a new user's way: the command line from an archive, the agents and the guard by Helm from a registry, the first
// finding, an upgrade and a rollback while pods come and go, and the removal.
func TestFromArtifacts(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 2 - *machines, Machines: *machines, Machine: *machine, Datastore: lab.KDD})
	registry := serve(t, l)
	dist := product.Release(t, registry+"/plumbline", "v"+before)
	product.Release(t, registry+"/plumbline", "v"+after)

	began := time.Now()
	u := user{t: t, l: l, path: unpacked(t, dist, before)}
	t.Logf("%s", u.run(0, "version"))
	chart := "oci://" + registry + "/plumbline/charts/plumbline"
	u.kubectl("create", "namespace", lab.AgentNamespace)
	u.kubectl("label", "namespace", lab.AgentNamespace, "pod-security.kubernetes.io/enforce=privileged")
	product.Helm(t, l, "install", "plumbline", chart, "--plain-http", "--version", before, "-n", lab.AgentNamespace, "--wait", "--timeout=300s",
		"--set", "guard.enabled=true,guard.mode=enforce,controller.enabled=true,controller.ui.enabled=true")
	t.Logf("installed after %.0f s", time.Since(began).Seconds())
	product.Helm(t, l, "test", "plumbline", "-n", lab.AgentNamespace, "--timeout=120s")
	s := &stage.Stage{Lab: l, Namespace: "default", Tell: func(line string) { t.Log(line) }}
	pod, err := s.Run(t.Context(), stage.PodSpec{Name: "freed", Node: "node1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Calicoctl(t.Context(), "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
		t.Fatal(err)
	}
	if out := u.run(1, "check", "--wait", "--settle=3s"); !strings.Contains(out, "PL1002/"+pod.Status.PodIP) {
		t.Errorf("the first finding: %s", out)
	}
	t.Logf("first finding after %.0f s", time.Since(began).Seconds())
	u.controller("PL1002/"+pod.Status.PodIP, before)
	u.onCall("PL1002", pod.Status.PodIP)
	u.restricted()
	u.viewers(pod.Status.PodIP)
	u.kubectl("-n", "default", "delete", "pod", "freed")

	u.replace("upgrade", after, func() {
		product.Helm(t, l, "upgrade", "plumbline", chart, "--plain-http", "--version", after, "-n", lab.AgentNamespace, "--reset-then-reuse-values", "--wait", "--timeout=400s")
	})
	u.controller("", after)
	u.replace("rollback", before, func() {
		product.Helm(t, l, "rollback", "plumbline", "-n", lab.AgentNamespace, "--wait", "--timeout=400s")
	})

	product.Helm(t, l, "uninstall", "plumbline", "-n", lab.AgentNamespace, "--wait", "--timeout=120s")
	u.kubectl("delete", "namespace", lab.AgentNamespace, "--timeout=90s")
	u.kubectl("delete", "crd", "findings.plumbline.dev", "suppressions.plumbline.dev", "repairpolicies.plumbline.dev", "--timeout=60s") // which Helm keeps, with what people wrote
	u.nothingLeft()
	u.airGapped(dist)
}

// controller asks for what the controller judged, as a user does; want is a finding that is confirmed in time.
func (u user) controller(want, version string) {
	u.t.Helper()
	code := 0
	if want != "" {
		code = 1
	}
	began := time.Now()
	err := lab.Eventually(u.t.Context(), 3*time.Minute, func(ctx context.Context) error {
		time.Sleep(2 * time.Second) // each asks the API server to review a token, of which there may be one a second
		if err := u.routes(ctx); err != nil {
			return err
		}
		cmd := u.command(ctx, "check", "--from-controller", "-o", "name")
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
			return fmt.Errorf("check --from-controller: %w, want %d: %s%s", err, code, out, said.String())
		}
		return stage.Expect(strings.TrimSpace(string(out)) == want, "findings %q, got %q", want, out)
	})
	if err != nil {
		u.t.Error(err)
	}
	u.t.Logf("check --from-controller has %q after %.0f s:\n%s", want, time.Since(began).Seconds(), u.run(code, "check", "--from-controller"))
	u.t.Logf("%s", u.kubectl("get", "findings"))
	if out := u.kubectl("-n", lab.AgentNamespace, "get", "pods", "-l", "app.kubernetes.io/component=controller", "-o", `jsonpath={.items[*].metadata.labels.app\.kubernetes\.io/version} {.items[*].status.containerStatuses[*].restartCount}`); out != "v"+version+" v"+version+" 0 0" {
		u.t.Errorf("pods of the controller: %s, want version %s, never restarted", out, version)
	}
}

// routes gives the API server a way to the pods of the controller, which it has where it runs on a node.
func (u user) routes(ctx context.Context) error {
	out, err := u.l.Kubectl(ctx, "-n", lab.AgentNamespace, "get", "pods", "-l", "app.kubernetes.io/component=controller", "-o", "jsonpath={range .items[*]}{.status.podIP} {.status.hostIP}{'\\n'}{end}")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		if pod, node, ok := strings.Cut(strings.TrimSpace(line), " "); ok && pod != "" {
			if said, err := exec.CommandContext(ctx, "ip", "route", "replace", pod+"/32", "via", node).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, said)
			}
		}
	}
	return nil
}

// airGapped installs what was copied onto the nodes, without a registry, with another port.
func (u user) airGapped(dist string) {
	nodes, err := u.l.RunningNodes(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	image, err := os.ReadFile(filepath.Join(dist, "image-plumbline-agent.tar"))
	if err != nil {
		u.t.Fatal(err)
	}
	for _, n := range nodes {
		had, err := n.Ctr(u.t.Context(), "images", "ls", "-q")
		if err != nil {
			u.t.Fatal(err)
		}
		for _, ref := range strings.Fields(had) {
			if strings.Contains(ref, "plumbline-agent") {
				if _, err := n.Ctr(u.t.Context(), "images", "rm", "--sync", ref); err != nil {
					u.t.Fatal(err)
				}
			}
		}
		if err := n.WriteFile("/run/image.tar", string(image)); err != nil {
			u.t.Fatal(err)
		}
		if _, err := n.Ctr(u.t.Context(), "images", "import", "/run/image.tar"); err != nil {
			u.t.Fatal(err)
		}
	}
	u.kubectl("create", "namespace", lab.AgentNamespace)
	product.Helm(u.t, u.l, "install", "plumbline", filepath.Join(dist, "plumbline-chart-"+before+".tgz"), "-n", lab.AgentNamespace, "--wait", "--timeout=120s",
		"--set", "image.digest=,image.pullPolicy=Never,port=9475")
	product.Helm(u.t, u.l, "test", "plumbline", "-n", lab.AgentNamespace, "--timeout=120s")
	if out := u.run(0, "status"); !strings.Contains(out, "2 of 2 nodes answer") {
		u.t.Errorf("without a registry: %s", out)
	}
}

// serve starts a registry that the nodes' runtimes use, and returns its host.
func serve(t *testing.T, l *lab.Lab) string {
	t.Helper()
	host := l.ControlPlane() + ":5000"
	cmd := exec.CommandContext(t.Context(), product.Crane(t), "registry", "serve", "--address", host)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	nodes, err := l.RunningNodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if err := n.WriteFile("/etc/containerd/certs.d/"+host+"/hosts.toml", "[host.\"http://"+host+"\"]\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := lab.Eventually(t.Context(), 10*time.Second, func(ctx context.Context) error {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/v2/", http.NoBody)
		if err != nil {
			return err
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			return err
		}
		return r.Body.Close()
	}); err != nil {
		t.Fatal(err)
	}
	return host
}

// unpacked installs the archive as krew does: the file that the manifest names becomes kubectl-plumbline, in a directory of PATH.
func unpacked(t *testing.T, dist, version string) string {
	t.Helper()
	dir := t.TempDir()
	archive := filepath.Join(dist, "plumbline_"+version+"_linux_amd64.tar.gz")
	if out, err := exec.CommandContext(t.Context(), "tar", "xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, file := range []string{"LICENSE", "NOTICE", "README.md", "THIRD_PARTY_LICENSES.txt"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
	if err := os.Rename(filepath.Join(dir, "plumbline"), filepath.Join(dir, "kubectl-plumbline")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A user runs kubectl, which finds our plugin.
type user struct {
	t    *testing.T
	l    *lab.Lab
	path string
}

func (u user) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, u.l.Bin("kubernetes", "kubectl"), append([]string{"plumbline"}, args...)...)
	cmd.Env = append(append(os.Environ(), u.l.Env()...), "PATH="+u.path+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+u.path)
	return cmd
}

// run runs a command of the plugin and requires its exit code.
func (u user) run(code int, args ...string) string {
	u.t.Helper()
	cmd := u.command(u.t.Context(), args...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		u.t.Fatalf("%q: exit code %d\n%s", args, got, out)
	}
	return string(out)
}

func (u user) kubectl(args ...string) string {
	u.t.Helper()
	out, err := u.l.Kubectl(u.t.Context(), args...)
	if err != nil {
		u.t.Fatal(err)
	}
	return out
}

// replace replaces agents and guards while pods come and go: no ADD fails, and no node's state is missing for longer than its agent
// is replaced. The guard's mode stays.
func (u user) replace(what, version string, f func()) {
	u.t.Helper()
	ctx, stop := context.WithCancel(u.t.Context())
	var wg sync.WaitGroup
	started := make([]int, 2)
	for i := range started {
		wg.Go(func() { started[i] = u.comeAndGo(ctx, i+1) })
	}
	var gap time.Duration
	wg.Go(func() { gap = u.longestGap(ctx) })
	began := time.Now()
	f()
	took := time.Since(began)
	time.Sleep(5 * time.Second)
	stop()
	wg.Wait()
	var ds struct {
		Spec struct {
			Template struct {
				Metadata struct{ Labels map[string]string }
			}
		}
		Metadata struct{ Labels map[string]string }
	}
	if err := json.Unmarshal([]byte(u.kubectl("-n", lab.AgentNamespace, "get", "daemonset", "plumbline-agent", "-o", "json")), &ds); err != nil {
		u.t.Fatal(err)
	}
	if got := ds.Metadata.Labels["app.kubernetes.io/version"]; got != "v"+version {
		u.t.Errorf("after the %s the DaemonSet has version %q", what, got)
	}
	if failed := strings.TrimSpace(u.kubectl("get", "events", "-A", "--field-selector", "reason=FailedCreatePodSandBox", "-o", "jsonpath={range .items[*]}{.message}{'\\n'}{end}")); failed != "" {
		u.t.Errorf("pods did not start during the %s: %s", what, failed)
	}
	u.t.Logf("%s: %.0f s, %d pods started meanwhile, no ADD failed; longest time without the state of a node %.1f s", what, took.Seconds(), started[0]+started[1], gap.Seconds())
	if gap > u.l.Scale(maxGap) || started[0] == 0 || started[1] == 0 {
		u.t.Errorf("%s: a gap of %s, pods %d", what, gap, started)
	}
	if out := u.run(0, "guard", "status", "--all"); strings.Count(out, "enforce") != 2 {
		u.t.Errorf("after the %s: %s", what, out)
	}
}

// comeAndGo starts pods on a node and deletes them, one after the other.
func (u user) comeAndGo(ctx context.Context, node int) (n int) {
	s := &stage.Stage{Lab: u.l, Namespace: "default", Tell: func(string) {}}
	for ctx.Err() == nil {
		name := fmt.Sprintf("come%d-%d", node, time.Now().UnixNano())
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: fmt.Sprintf("node%d", node)}); err != nil {
			if ctx.Err() == nil {
				u.t.Errorf("%s: %v", name, err)
			}
			break
		}
		n++
		if _, err := u.l.Kubectl(context.WithoutCancel(ctx), "-n", "default", "delete", "pod", name, "--wait=false"); err != nil {
			u.t.Error(err)
		}
	}
	return n
}

var answering = regexp.MustCompile(`Agents +(\d+) of (\d+) nodes answer`)

// longestGap asks again and again how many nodes answer.
func (u user) longestGap(ctx context.Context) (longest time.Duration) {
	whole := time.Now()
	for ctx.Err() == nil {
		out, _ := u.command(ctx, "status", "--request-timeout=5s").CombinedOutput()
		if m := answering.FindStringSubmatch(string(out)); m != nil {
			have, _ := strconv.Atoi(m[1])
			if all, _ := strconv.Atoi(m[2]); have == all && all == 2 {
				whole = time.Now()
			}
		}
		longest = max(longest, time.Since(whole))
		time.Sleep(200 * time.Millisecond)
	}
	return longest
}

// nothingLeft asks for every kind of object, and looks at every node.
func (u user) nothingLeft() {
	u.t.Helper()
	kinds := strings.Fields(u.kubectl("api-resources", "--verbs=list", "-o", "name"))
	for _, kind := range kinds {
		if kind == "events" || kind == "events.events.k8s.io" {
			continue // they tell what was
		}
		for line := range strings.Lines(u.kubectl("get", kind, "-A", "-o", "name", "--ignore-not-found")) {
			if strings.Contains(line, "plumbline") {
				u.t.Errorf("left in the API: %s", line)
			}
		}
	}
	nodes, err := u.l.RunningNodes(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	for _, n := range nodes {
		if out, err := n.Exec(u.t.Context(), "sh", "-c", "grep -l plumbline /etc/cni/net.d/* || true"); err != nil || strings.TrimSpace(out) != "" {
			u.t.Errorf("%s: CNI configurations that name us: %s %v", n.Name, out, err)
		}
		out, err := n.Exec(u.t.Context(), "sh", "-c", "ls -d /opt/cni/bin/*plumbline* /run/plumbline* /var/lib/plumbline/* /etc/cni/net.d/*plumbline* /var/lib/cni/*plumbline* 2>/dev/null || true")
		u.t.Logf("files left on %s: %q %v", n.Name, strings.Fields(out), err)
	}
	u.t.Logf("%d kinds of objects asked", len(kinds))
}
