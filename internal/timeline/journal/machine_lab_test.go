//go:build e2e

package journal_test

import (
	"archive/tar"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline/journal"
	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	kind  = flag.String("machine", "debian12", "what the machine is: debian11, debian12, debian13")
	lines = flag.Int("lines", 50_000, "how many lines of kubelet and containerd")
	cuts  = flag.Int("cuts", 20, "how often the machine's power is cut")
)

func sh(t *testing.T, n *lab.Node, script string) string {
	t.Helper()
	out, err := n.Exec(t.Context(), "sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// taken copies the machine's journal files whose names match.
func taken(t *testing.T, n *lab.Node, match string) (files []*journal.File, names []string) {
	t.Helper()
	in := tar.NewReader(strings.NewReader(sh(t, n, "cd /var/log/journal/* && tar -cf - "+match)))
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, names
		}
		must(t, err)
		b, err := io.ReadAll(in)
		must(t, err)
		if journal.IsFile(h.Name) && !journal.IsUser(h.Name) {
			files, names = append(files, open(t, b)), append(names, path.Base(h.Name))
		}
	}
}

// TestMachine: what journald itself has written of a real kubelet and containerd is read as
// journalctl reads it, entry by entry.
func TestMachine(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 1, Machines: 1, Machine: *kind})
	n, err := l.Node(t.Context(), 2)
	must(t, err)
	// A kubelet says most when it is asked to say everything.
	sh(t, n, `printf '[Journal]\nRateLimitIntervalSec=0\n' > /etc/systemd/journald.conf.d/all.conf
sed -i 's/"--v=2"/"--v=10"/' /etc/systemd/system/kubelet.service
systemctl daemon-reload; systemctl restart systemd-journald kubelet containerd`)
	count := 0
	for end := time.Now().Add(18 * time.Minute); count < *lines && time.Now().Before(end); time.Sleep(20 * time.Second) {
		sh(t, n, "systemctl restart kubelet") // it says most when it begins
		count, err = strconv.Atoi(strings.TrimSpace(sh(t, n, "journalctl -q -o cat -u kubelet -u containerd | wc -l")))
		must(t, err)
	}
	sh(t, n, `sed -i 's/"--v=10"/"--v=2"/' /etc/systemd/system/kubelet.service; systemctl daemon-reload; systemctl restart kubelet; journalctl --rotate; sync`)
	files, names := taken(t, n, "*@*.journal")
	export := sh(t, n, `cd /var/log/journal/* && journalctl -q -o export $(for f in *@*.journal; do echo "--file $f"; done)`)
	began := time.Now()
	got := read(t, everything, files...)
	t.Logf("%s: %d lines of kubelet and containerd, %d entries in %d files (%s), %.1f MB; read in %.2f s", *kind, count, len(got), len(files), strings.Join(names, " "),
		float64(len(export))/1e6, time.Since(began).Seconds())
	compareEntries(t, got, readExport(t, []byte(export)))
	if count < *lines {
		t.Errorf("only %d lines came", count)
	}
	for i, f := range files {
		if d := f.Damage(); len(d) > 0 {
			t.Errorf("%s: %v", names[i], d)
		}
	}
}

// TestCutOff: a machine that loses its power again and again while it writes leaves files of
// which nothing is lost that journalctl shows, and what is damaged is said.
func TestCutOff(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 1, Machines: 1, Machine: *kind})
	n, err := l.Node(t.Context(), 2)
	must(t, err)
	sh(t, n, `printf '[Journal]\nRateLimitIntervalSec=0\nSyncIntervalSec=1\nStorage=persistent\n' > /etc/systemd/journald.conf.d/all.conf
systemctl disable kubelet kube-proxy felix tunnel-addresses containerd 2>/dev/null
printf '[Unit]\nDescription=writer\n[Service]\nExecStart=/bin/sh -c "i=0; while :; do i=$$((i+1)); echo line $$i of $$(cat /proc/uptime) $$(head -c 700 /dev/zero | tr -c x y); done"\n[Install]\nWantedBy=multi-user.target\n' > /etc/systemd/system/writer.service
systemctl daemon-reload; systemctl enable --now writer; systemctl restart systemd-journald; sync`)
	damaged, entries, more := 0, 0, 0
	for i := range *cuts {
		time.Sleep(time.Duration(2+rand.IntN(4000)) * time.Millisecond)
		must(t, n.PowerCut(t.Context()))
		// Only what the earlier boots wrote: the present one goes on writing.
		sh(t, n, "systemctl stop writer; journalctl --rotate; sync")
		files, names := taken(t, n, `$(ls -t | grep -v '^system.journal$' | head -n 8)`) // the present one is being written
		export := sh(t, n, `cd /var/log/journal/* && journalctl -q -o export $(for f in `+strings.Join(names, " ")+`; do echo "--file $f"; done)`)
		want, got := readExport(t, []byte(export)), map[string][]string{}
		for _, e := range read(t, everything, files...) {
			got[e.cursor] = e.fields
		}
		for _, e := range want {
			if fields, ok := got[e.cursor]; !ok || !slices.Equal(fields, e.fields) {
				t.Errorf("cut %d: journalctl shows %s, we have %v %.300q", i, e.cursor, ok, fields)
			}
		}
		for j, f := range files {
			for _, d := range f.Damage() {
				damaged++
				if d.What == "" || d.Count == 0 || fmt.Sprint(d) == "" {
					t.Errorf("cut %d: %s: damage without words: %+v", i, names[j], d)
				}
			}
		}
		entries += len(want)
		more += len(got) - len(want)
		sh(t, n, "systemctl start writer")
		t.Logf("cut %d: %d entries, %d that only we show, %d places of damage so far", i+1, entries, more, damaged)
	}
	t.Logf("%s: %d cuts, %d entries that journalctl shows, %d more that only we show, %d places of damage named", *kind, *cuts, entries, more, damaged)
}
