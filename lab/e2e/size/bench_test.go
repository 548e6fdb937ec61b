//go:build e2e

package size

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/load"
	"plumbline.dev/plumbline/lab/stage"
)

// A bench measures on one loaded lab.
type bench struct {
	cluster
	t       *testing.T
	l       *lab.Lab
	bin     string
	want    []string
	faults  []load.Fault
	servers map[string]server
	watched map[string]*watched
	script  []call
	state   string // of the first check, to confirm its findings
}

func newBench(t *testing.T, l *lab.Lab) *bench {
	t.Helper()
	b := &bench{t: t, l: l, bin: *binary, servers: serversOf(t, l)}
	if b.bin == "" {
		b.bin = product.Binary(t)
	}
	b.watched = watch(t, l, b.servers)
	return b
}

// fill loads the lab. Meanwhile, the API server, which watches, is made to collect its
// garbage: otherwise it would grow to twice what it needs, and fill this machine.
func (b *bench) fill(nodes int) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.keepSmall(ctx)
	}()
	sum, err := load.Run(b.t.Context(), b.l, load.Config{Nodes: nodes, PodsPerNode: podsPerNode, Faults: faultsOf(b.l.Datastore)})
	cancel()
	<-done
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("%d pods, %d objects, %d MB written in %.0f s, in the API server's caches after %.0f s", sum.Pods, sum.Objects, sum.Bytes>>20, sum.Write.Seconds(), sum.Settle.Seconds())
	b.want, b.faults = wanted(sum.Faults), sum.Faults
	b.cluster = cluster{Datastore: string(b.l.Datastore), Nodes: sum.Nodes, Pods: sum.Pods, Objects: sum.Objects, Stored: sum.Bytes, Busy: busy()}
}

// busy is the machine's load average of the last minute.
func busy() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// plumbline returns a command of plumbline with its own state directory. A user with a
// deadline would have stopped it long before our limit.
func (b *bench) plumbline(state string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Minute)
	b.t.Cleanup(cancel)
	return stage.Command(ctx, b.l, b.bin, state, args...)
}

// record runs check through recorders, to learn its requests.
func (b *bench) record() {
	b.t.Helper()
	var p tape
	args := []string{"check", "-o", "json"}
	for store, s := range b.servers {
		conf, err := s.tls()
		if err != nil {
			b.t.Fatal(err)
		}
		r := p.record(b.t, store, s.URL, conf)
		if store == toAPI {
			args = append(args, "--kubeconfig="+r.kubeconfig(b.t))
			continue
		}
		_, crt, key := b.l.EtcdCerts("read-only")
		args = append(args, "--etcd-endpoints="+r.url, "--etcd-cacert="+r.ca, "--etcd-cert="+crt, "--etcd-key="+key)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.bin, args...)
	cmd.Env = append(append(os.Environ(), b.l.Env()...), "XDG_STATE_HOME="+b.t.TempDir())
	text, _ := cmd.Output() // findings are not an error, and missing tables show below
	if r := b.report(string(text)); len(r.NotChecked) > 0 {
		b.t.Fatalf("recorded check did not read %v", r.NotChecked)
	}
	b.script = p.script()
	for _, c := range b.script {
		if c.Bytes > 1<<20 || len(b.script) < 60 {
			b.t.Logf("recorded %s %s %s %s %q %d bytes, after %d", c.Proto, c.Method, c.URI, c.Header.Get("Accept"), c.Header.Get("Accept-Encoding"), c.Bytes, len(c.After))
		}
	}
	b.t.Logf("recorded %d calls", len(b.script))
}

func (b *bench) report(text string) (r stage.Report) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		b.t.Fatalf("check: %v: %s", err, last(text, 300))
	}
	return r
}

// pair measures a check without earlier state, and the bare download of what it read.
func (b *bench) pair() (check, bare figures) {
	b.t.Helper()
	state := b.t.TempDir()
	check, text := b.measure("check", b.plumbline(state, "check", "-o", "json"))
	compare(b.t, "check", seen(b.report(text)), b.want)
	if b.state == "" {
		b.state = state
	}
	bare, _ = b.measure("bare download", casting(b.t, "bare", job{Servers: b.servers, Calls: b.matching(check.Bytes)}))
	if bare.Note != "" {
		b.t.Fatalf("bare download: %s", bare.Note)
	}
	if !alike(check.Bytes, bare.Bytes) {
		b.t.Errorf("check read %d bytes, the bare download %d: want the same", check.Bytes, bare.Bytes)
	}
	return check, bare
}

// ours measures check and the bare download in turn, and our other commands.
func (b *bench) ours() {
	b.t.Helper()
	var checks, bares []figures
	for range *repeats {
		check, bare := b.pair()
		checks, bares = append(checks, check), append(bares, bare)
	}
	check, bare := middlePair(checks, bares)
	b.Rows = append(b.Rows, check, bare)
	for _, args := range [][]string{{"check", "--quick"}, {"check", "--gentle"}, b.explainPod(), b.explainIP()} {
		f, _ := b.measure(strings.Join(args[:2], " "), b.plumbline(b.t.TempDir(), args...))
		b.Rows = append(b.Rows, f)
	}
}

// matching returns the calls that read as many bytes as check has just read. check
// requests compressed lists only from servers that seem far away, which by chance may be
// so in one run and not in the next.
func (b *bench) matching(read int64) []call {
	var recorded int64
	for _, c := range b.script {
		recorded += c.Bytes
	}
	if alike(recorded, read) {
		return b.script
	}
	b.t.Logf("check read %d bytes of %d: lists were compressed", read, recorded)
	out := slices.Clone(b.script)
	for i := range out {
		if c := &out[i]; c.Proto == "HTTP/1.1" {
			c.Header = c.Header.Clone()
			c.Header.Set("Accept-Encoding", "gzip")
		}
	}
	return out
}

// alike allows for what a server sends to other clients meanwhile.
func alike(a, b int64) bool {
	const others = 1 << 20
	return max(a, b)-min(a, b) < others+max(a, b)/50
}

func (b *bench) explainPod() []string {
	i := slices.IndexFunc(b.faults, func(f load.Fault) bool { return f.Kind == load.NoAnnotation })
	ns, name, _ := strings.Cut(b.faults[i].Pod, "/")
	return []string{"explain", "pod", name, "-n", ns}
}

func (b *bench) explainIP() []string {
	i := slices.IndexFunc(b.faults, func(f load.Fault) bool { return f.Kind == load.Leaked })
	return []string{"explain", "ip", b.faults[i].Subject}
}

// prove runs check again with the state of the first, with full and paged lists: it must
// confirm what was unconfirmed, and nothing else.
func (b *bench) prove() {
	b.t.Helper()
	for _, args := range [][]string{nil, {"--gentle"}} {
		what := strings.Join(append([]string{"check --settle=1s"}, args...), " ")
		_, text := b.measure(what, b.plumbline(b.state, append([]string{"check", "-o", "json", "--settle=1s"}, args...)...))
		compare(b.t, what, b.report(text).Names(), b.want)
	}
}

// seen returns the names of confirmed and unconfirmed findings.
func seen(r stage.Report) []string {
	out := r.Names()
	for _, s := range r.Unconfirmed {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// others measures other programs.
func (b *bench) others() {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), b.l.Bin("calico", "calicoctl"), "ipam", "check")
	cmd.Env = append(os.Environ(), b.l.Env()...)
	f, text := b.measure("calicoctl", cmd)
	b.t.Log(last(text, 600))
	b.Rows = append(b.Rows, f)

	j := job{Kubeconfig: b.l.Kubeconfig()}
	for _, c := range b.script {
		if path, query, _ := strings.Cut(c.URI, "?"); c.Store == toAPI && c.Bytes > 0 && collection(path) && !strings.Contains(query, "elector=") && !slices.Contains(j.Lists, path) {
			j.Lists = append(j.Lists, path)
		}
	}
	f, text = b.measure("client-go, paged", casting(b.t, "paged", j))
	b.t.Logf("client-go read %s objects of %v", strings.TrimSpace(text), j.Lists)
	if b.l.Datastore == lab.Etcd {
		f.Note = strings.TrimSpace(f.Note + " only what the API server has")
	}
	b.Rows = append(b.Rows, f)
}

// collection returns whether a path lists all objects of a kind in the cluster.
func collection(path string) bool {
	part := strings.Split(strings.Trim(path, "/"), "/")
	return part[0] == "api" && len(part) == 3 || part[0] == "apis" && len(part) == 4
}
