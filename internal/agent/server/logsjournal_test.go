package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"plumbline.dev/plumbline/internal/timeline/pick"
)

const ofMachine = "b0a7c0de0000000000000000000ca1c0"

// put writes a journal that systemd wrote to the node; change may damage it.
func (n *logNode) put(fixture, at string, change func([]byte) []byte) {
	n.Helper()
	packed, err := os.ReadFile(filepath.Join("../../timeline/journal/testdata", fixture+".journal.zst"))
	must(n.T, err)
	d, err := zstd.NewReader(nil)
	must(n.T, err)
	defer d.Close()
	b, err := d.DecodeAll(packed, nil)
	must(n.T, err)
	if change != nil {
		b = change(b)
	}
	n.write(at, string(b))
}

// On a node whose kubelet and runtime log to journald, the lines come from its journal, of
// all its files, in which no other unit is read.
func TestLogsOfJournal(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	n.put("rotated.0", "var/log/journal/"+ofMachine+"/system@0.journal", nil)
	n.put("rotated.1", "run/log/journal/"+ofMachine+"/system.journal", nil)
	n.put("rotated.1", "var/log/journal/"+ofMachine+"/user-1000.journal", nil) // no service writes there
	n.put("rotated.1", "var/log/journal/other/system.journal", nil)            // no machine's
	n.write("var/log/journal/"+ofMachine+"/system@x.journal", "no journal")
	q := pick.Question{Namespace: "late-del", Pod: "etcd1-0"}
	l := n.ask(q)
	of := map[string]int{}
	for _, line := range told(t, l) {
		file, text, _ := strings.Cut(line, " ")
		name, _, _ := strings.Cut(strings.Split(file, ":")[1], " ")
		of[filepath.Base(strings.Split(file, ":")[0])+":"+name]++
		if !strings.Contains(text, "T") || !strings.Contains(text, " w17 ") {
			t.Errorf("no journal line: %s", line)
		}
	}
	if of["system@0.journal:kubelet"] < 5 || of["system.journal:kubelet"] < 5 || of["system.journal:containerd"]+of["system@0.journal:containerd"] < 5 || len(of) > 4 {
		t.Errorf("lines by file: %v", of)
	}
	if absent := strings.Join(l.Absent, " "); absent != "cni eventlog" {
		t.Errorf("absent: %s", absent)
	}
	n.says(l, "system@x.journal is not read")
	q.Since = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	if l := n.ask(q); len(l.Texts) != 0 {
		t.Errorf("of the future: %q", told(t, l))
	}
}

// A journal whose middle is destroyed gives what is left, and says what is not.
func TestLogsOfDamagedJournal(t *testing.T) {
	t.Parallel()
	n := newLogNode(t)
	n.put("rotated.1", "var/log/journal/"+ofMachine+"/system.journal", func(b []byte) []byte {
		clear(b[len(b)/2 : len(b)/2+len(b)/8])
		return b
	})
	l := n.ask(pick.Question{Namespace: "late-del", Pod: "etcd1-0"})
	n.says(l, "not everything is readable")
	if len(l.Texts) == 0 {
		t.Errorf("nothing is left: %q", l.Missing)
	}
}
