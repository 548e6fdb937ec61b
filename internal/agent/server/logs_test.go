package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/timeline/pick"
)

// A logNode is a node's file system with logs, and its agent.
type logNode struct {
	*testing.T
	*Server
	root string
}

func newLogNode(t *testing.T, more ...LogPlace) *logNode {
	t.Helper()
	n := &logNode{T: t, root: t.TempDir()}
	n.Server = New(Config{
		Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now, Record: filepath.Join(n.root, "var/lib/plumbline/events"),
		Logs: Logs{Root: n.root, Places: more},
	})
	n.logs.within = 20 * time.Minute // what is tested is not how busy this machine is
	return n
}

func (n *logNode) write(path, text string) string {
	n.Helper()
	path = filepath.Join(n.root, path)
	must(n.T, os.MkdirAll(filepath.Dir(path), 0o755))
	must(n.T, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// old makes a file as old as n hours.
func (n *logNode) old(path string, hours int) {
	n.Helper()
	at := now().Add(-time.Duration(hours) * time.Hour)
	must(n.T, os.Chtimes(path, at, at))
}

var aboutP = pick.Question{Namespace: "ns", Pod: "p-0"}

func (n *logNode) ask(q pick.Question) *agent.Logs {
	n.Helper()
	f := fleet(n.handler())
	open := f.Open
	f.Open = func(ctx context.Context, node, path string, q url.Values) (io.ReadCloser, error) {
		return open(context.WithoutCancel(ctx), node, path, q) // the reader comes after all others: a busy machine makes it late
	}
	got, err := f.Logs(n.Context(), "n1", q)
	must(n.T, err)
	return got
}

// told is the lines of an answer: FILE:NUMBER TEXT.
func told(t *testing.T, l *agent.Logs) (out []string) {
	t.Helper()
	for _, f := range l.Texts {
		r, err := f.Open()
		must(t, err)
		b, err := io.ReadAll(r)
		must(t, err)
		for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
			out = append(out, fmt.Sprintf("%s:%d %s", filepath.Base(f.Name), f.Number(uint32(i+1)), line))
		}
	}
	return out
}

func (n *logNode) want(l *agent.Logs, want ...string) {
	n.Helper()
	got := told(n.T, l)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		n.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (n *logNode) says(l *agent.Logs, word string) {
	n.Helper()
	if said := strings.Join(l.Missing, "\n"); !strings.Contains(said, word) {
		n.Errorf("%q is not said in\n%s", word, said)
	}
}

const sandboxes = "340b1c7a1a908463446030e936216ed961208ef19c39137d4265fcf33cd19472"

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// The lines about a pod come from all files that there are, rotated and packed ones too, with
// their numbers; an ID that comes up in one is found in those that were read before.
func TestLogsOfPod(t *testing.T) {
	t.Parallel()
	n := newLogNode(t, LogPlace{Source: "kubelet", Path: "/opt/k3s/kubelet.log"})
	n.write("var/log/calico/cni/cni.log", "x\nCleanUp "+sandboxes+"\ny\n")
	n.old(n.write("var/log/calico/cni/cni-2026-11-15T13-06-34.037.log.gz", zipped("first\nNamespace=\"ns\" Pod=\"p-0\" ContainerID=\""+sandboxes+"\"\nz\n")), 1)
	n.old(n.write("var/log/calico/cni/cni.log.1", "ns/p-0 once\n"), 2)
	n.old(n.write("var/log/calico/cni/cni.log-20261101.gz", zipped("ns/p-0 long ago\n")), 3)
	n.write("var/log/calico/cni/readme.txt", "ns/p-0\n")
	n.write("var/log/calico/cni/cni.log.swp", "ns/p-0\n")
	n.write("var/log/syslog.log", "ns/p-0\n")
	n.write("opt/k3s/kubelet.log", "a\n\"Started kubelet\"\npod=\"ns/p-0\" no end of line")
	n.write("var/lib/plumbline/events/00000001.events", `0a0b0c0d {"at":"2026-11-15T13:00:00Z","was":{"namespace":"ns","pod":"p-0"}}`+"\n"+`0a0b0c0d {"at":"2026-11-15T13:00:00Z","name":"other"}`+"\n")
	l := n.ask(aboutP)
	n.want(l,
		"cni.log:2 CleanUp "+sandboxes,
		`kubelet.log:2 "Started kubelet"`, `kubelet.log:3 pod="ns/p-0" no end of line`,
		`00000001.events:1 0a0b0c0d {"at":"2026-11-15T13:00:00Z","was":{"namespace":"ns","pod":"p-0"}}`,
		`cni-2026-11-15T13-06-34.037.log.gz:2 Namespace="ns" Pod="p-0" ContainerID="`+sandboxes+`"`,
		"cni.log.1:1 ns/p-0 once", "cni.log-20261101.gz:1 ns/p-0 long ago",
	)
	if len(l.Learned) != 1 || l.Learned[0] != sandboxes || strings.Join(l.Absent, " ") != "containerd" || l.Zone != "+00:00" || l.Node != "n1" {
		t.Errorf("%+v", l.LogAccount)
	}
	n.says(l, "containerd: no file /var/log/containerd*.log")
	q := aboutP
	q.Since = now().Add(-150 * time.Minute)
	l = n.ask(q)
	n.says(l, "1 files end before")
	if s := strings.Join(told(t, l), "\n"); strings.Contains(s, "long ago") || !strings.Contains(s, "once") {
		t.Error(s)
	}
}

// What is no ordinary file of the directory is not opened, whatever it is called and wherever
// it leads, and that is said.
func TestLogsOnlyOfFiles(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	secret := n.write("etc/secret.log", "ns/p-0 password\n")
	n.write("etc/cni/cni.log", "ns/p-0 password\n")
	n.write("var/log/containerd.log", "fine\n")
	must(t, os.Symlink(secret, filepath.Join(n.root, "var/log/kubelet.log")))
	must(t, os.Symlink("../../etc/secret.log", filepath.Join(n.root, "var/log/kubelet2.log")))
	must(t, unix.Mkfifo(filepath.Join(n.root, "var/log/kubelet3.log"), 0o600))
	must(t, os.Mkdir(filepath.Join(n.root, "var/log/kubelet4.log"), 0o700))
	must(t, os.Symlink("../../etc", filepath.Join(n.root, "var/log/calico")))
	l := n.ask(aboutP)
	n.want(l)
	for _, name := range []string{"kubelet.log", "kubelet2.log", "kubelet3.log", "kubelet4.log", "/var/log/calico/cni: it is a link"} {
		n.says(l, name)
	}
}

// The administrator may have put /var/log elsewhere on the node: links up to there are the
// node's, and do not lead out of it.
func TestLogsElsewhere(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	n.write("data/logs/kubelet.log", "ns/p-0\n")
	must(t, os.MkdirAll(filepath.Join(n.root, "var"), 0o755))
	must(t, os.Symlink("/data/logs", filepath.Join(n.root, "var/log")))
	n.want(n.ask(aboutP), "kubelet.log:1 ns/p-0")
}

const jwt = "eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50Iiwic3ViIjoic3lzdGVtOnNlcnZpY2VhY2NvdW50OmEifQ.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJl"

// No credential leaves the node; a huge line costs nothing, and is not cut in the midst of
// one.
func TestLogsScrubbed(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	filler := strings.Repeat("word ", maxLogLine/5)[:maxLogLine-30] + " " // the cut comes in the password
	n.write("var/log/kubelet.log", "ns/p-0 token="+jwt+" end\n"+
		"ns/p-0 "+filler+"https://a:hunter2hunter2hunter2@registry/\n"+
		strings.Repeat("x", 3<<20)+" ns/p-0\n"+
		"ns/p-0 "+strings.Repeat("y", 3<<20)+"\n"+
		"ns/p-0 last\n")
	l := n.ask(aboutP)
	got := told(t, l)
	if len(got) != 4 || !strings.HasSuffix(got[0], " end") || strings.Contains(strings.Join(got, ""), jwt[40:60]) || strings.Contains(strings.Join(got, ""), "hunter2") {
		t.Errorf("%d lines: %.300q", len(got), got)
	}
	if len(got[1]) > maxLogLine+50 || !strings.HasPrefix(got[2], "kubelet.log:4 ns/p-0") || got[len(got)-1] != "kubelet.log:5 ns/p-0 last" {
		t.Errorf("%d, %.60s, %.60s", len(got[1]), got[2], got[len(got)-1])
	}
	n.says(l, "2 lines are longer")
}

// However much there is, an answer has its bounds; it says so, and has the beginning and the
// newest.
func TestLogsBounded(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	var b strings.Builder
	for i := range 13_000 {
		fmt.Fprintf(&b, "%d ns/p-0 \"quoted\" %s\n", i, strings.Repeat("z", 200))
	}
	for _, name := range []string{"calico/cni/cni.log", "kubelet.log", "containerd.log"} {
		n.old(n.write("var/log/"+name, b.String()), 1)
	}
	n.old(n.write("var/log/kubelet.log.1", b.String()), 2)
	w := httptest.NewRecorder()
	q := aboutP
	n.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/"+agent.PathLogs+"?"+q.Values().Encode(), nil))
	if size := w.Body.Len(); size > agent.MaxLogs || size < perSource*3-10_000 {
		t.Errorf("%d bytes", size)
	}
	l := n.ask(aboutP)
	if len(l.Texts) != 3 || len(l.Files) != 4 {
		t.Fatalf("%d of %d files", len(l.Texts), len(l.Files))
	}
	for _, f := range l.Texts {
		if f.Number(1) != 1 || f.Number(uint32(f.Handed)) != 13_000 || f.Handed+f.Dropped != 13_000 || f.Dropped == 0 {
			t.Errorf("%s: %d to %d, %d and %d", f.Name, f.Number(1), f.Number(uint32(f.Handed)), f.Handed, f.Dropped)
		}
	}
	n.says(l, "lines are left out, in the midst")
	n.says(l, "kubelet.log.1 is not read to its end: newer lines of the same component")
}

// A slowFile is a file whose disk does not answer.
type slowFile struct {
	text string
	wait <-chan struct{}
}

func (s *slowFile) Read(p []byte) (int, error) {
	if s.text == "" {
		<-s.wait
		return 0, io.EOF
	}
	n := copy(p, s.text)
	s.text = s.text[n:]
	return n, nil
}

func (*slowFile) Close() error { return nil }

// A read that hangs holds up nobody for long: what was read before is handed out, and the
// next who asks is told.
func TestLogsThatHang(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	n.write("var/log/kubelet.log", "ns/p-0\n")
	n.logs.within = agent.LogsWithin
	find, wait := n.logs.find, make(chan struct{})
	n.logs.find = func(ctx context.Context) ([]logFile, logMissing) {
		files, missing := find(ctx)
		return append(files, logFile{source: "cni", name: "/dead/cni.log", seenFile: seenFile{size: 1 << 30, modified: now()}, open: func(context.Context, time.Time) (io.ReadCloser, error) {
			return &slowFile{text: "ns/p-0 " + sandboxes + "\n", wait: wait}, nil
		}}), missing
	}
	began := now()
	l := n.ask(aboutP)
	if took := now().Sub(began); took > agent.LogsWithin+time.Minute {
		t.Errorf("took %s", took)
	}
	n.want(l, "kubelet.log:1 ns/p-0")
	n.says(l, "/dead/cni.log does not come back")
	if _, err := fleet(n.handler()).Logs(t.Context(), "n1", aboutP); err == nil || !strings.Contains(err.Error(), "now /dead/cni.log") {
		t.Errorf("the next: %v", err)
	}
	close(wait)
	l, err := fleet(n.handler()).Logs(t.Context(), "n1", aboutP)
	for try := 0; err != nil && try < 20; try++ { // the first reader may still be at it
		l, err = fleet(n.handler()).Logs(t.Context(), "n1", aboutP)
	}
	if err != nil || len(l.Texts) != 2 {
		t.Errorf("after that: %q, %v", told(t, l), err)
	}
}

// Whoever goes away is not read for.
func TestLogsNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	n.write("var/log/kubelet.log", strings.Repeat("ns/p-0\n", 1000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, err := n.logs.ask(ctx, aboutP)
	if err == nil && len(a.taken) > 0 && a.taken[0].count() > 0 {
		t.Errorf("%d lines", a.taken[0].count())
	}
}

func TestLogQuestionsRefused(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	for _, q := range []string{
		"", "pod=p", "pod=/p", "pod=ns/", "pod=ns/P", "pod=ns/p&path=/etc", "pod=ns/../p", "address=x", "address=169.254.1.1", "sandbox=abc", "sandbox=../../../../etc",
		"pod=ns/p&uid=x", "pod=ns/p&since=yesterday", "pod=ns/p&since=2026-11-15T13:00:00Z&until=2026-11-15T12:00:00Z", "since=2026-11-15T13:00:00Z",
	} {
		w := httptest.NewRecorder()
		n.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/"+agent.PathLogs+"?"+q, nil))
		if w.Code != 400 {
			t.Errorf("%q: %d", q, w.Code)
		}
	}
	for _, p := range []string{"", "x=/a/*.log", "kubelet=a/*.log", "kubelet=/a/../*.log", "kubelet=/*/x.log", "kubelet=/a/[.log"} {
		if got, err := parseLogPlace(p); err == nil {
			t.Errorf("%q: %+v", p, got)
		}
	}
	if p, err := parseLogPlace("kubelet=/opt/k3s/kubelet*.log"); err != nil || p.Source != "kubelet" || p.Path != "/opt/k3s/kubelet*.log" {
		t.Errorf("%+v, %v", p, err)
	}
}

// Whatever bytes a log has, the answer is one.
func FuzzLogs(f *testing.F) {
	f.Add([]byte("ns/p-0\n\xff\x00\x1b[2Jns/p-0\r\n"), false)
	f.Add([]byte(zipped("ns/p-0\n")), true)
	f.Add([]byte("\x1f\x8b"), true)
	f.Fuzz(func(t *testing.T, b []byte, packed bool) {
		n := newLogNode(t)
		name := "var/log/kubelet.log"
		if packed {
			name += ".gz"
		}
		n.write(name, string(b))
		w := httptest.NewRecorder()
		q := aboutP
		n.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/"+agent.PathLogs+"?"+q.Values().Encode(), nil))
		var last agent.LogRecord
		for d := json.NewDecoder(w.Body); d.More(); {
			last = agent.LogRecord{}
			must(t, d.Decode(&last))
		}
		if w.Code != 200 || last.End == nil {
			t.Errorf("%d, %+v", w.Code, last)
		}
	})
}

// A directory that cannot be listed is not one where nothing was recorded.
func TestLogsOfUnreadDirectory(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	n.write("var/lib/plumbline/events", "no directory")
	if text := strings.Join(n.ask(aboutP).Missing, "; "); strings.Contains(text, "recorded nothing") || !strings.Contains(text, "eventlog: not every directory could be listed") {
		t.Errorf("%s", text)
	}
}
