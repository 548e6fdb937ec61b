package parse

import (
	"bufio"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// seedLines gives the lines of the recorded logs.
func seedLines(f testing.TB) [][]byte {
	f.Helper()
	var out [][]byte
	for _, log := range []string{"kubelet-v1.34.4", "containerd-1.6.20", "audit-v1.34.4", "seed001-kubelet-v1.7.6", "seed004-events-kubelet-dockerd-2019"} {
		b, err := os.ReadFile(filepath.Join("testdata", log+".log"))
		if err != nil {
			f.Fatal(err)
		}
		for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
			out = append(out, bytes.Clone(s.Bytes()))
		}
	}
	return append(out, []byte(eventLine(`{"at":"2026-11-15T10:31:56Z","by":"agent","what":"new","of":"sandboxes","name":"x","now":{"id":"`+idA+`"}}`)))
}

// sound makes sure that whatever a line says, an event's names are names and its size is
// bounded.
func sound(t *testing.T, tl *Parser) func(timeline.Event) {
	return func(e timeline.Event) {
		if e.Kind == timeline.Nothing {
			t.Errorf("nothing was told: %+v", e)
		}
		if len(e.Note) > timeline.MaxNote || len(e.Object) > maxName {
			t.Errorf("too long: %+v", e)
		}
		if e.Pod != "" && newPod([]byte(e.Pod)) != e.Pod && e.Source != "cni" {
			t.Errorf("no pod: %q", e.Pod)
		}
		if e.UID != uidOf([]byte(e.UID)) || e.Sandbox != containerID([]byte(e.Sandbox)) || e.Container != containerID([]byte(e.Container)) {
			t.Errorf("no ID: %+v", e)
		}
		if e.Count < 0 || len(tl.seen.known) > maxSeen || len(tl.seen.order) > maxSeen {
			t.Errorf("unbounded: %+v", e)
		}
	}
}

func listening(t *testing.T) *Parser {
	tl := &Parser{}
	tl.emit = sound(t, tl)
	return tl
}

func FuzzKubelet(f *testing.F) {
	origins := slices.Sorted(maps.Keys(kubeletSays))
	for i, o := range origins {
		for _, p := range kubeletSays[o] {
			f.Add(byte(i), []byte(p.begins+` for pod "a_b(c)" err="x: `+idA+`" pod="a/b" event={"ID":"u","Type":"ContainerDied","Data":"`+idB+`"}`))
		}
	}
	for _, line := range seedLines(f) {
		f.Add(byte(0), line)
	}
	f.Fuzz(func(t *testing.T, origin byte, text []byte) {
		tl := listening(t)
		for _, o := range [...]string{origins[int(origin)%len(origins)], "kubelet.go"} {
			r := records.Record{Style: records.Klog, Origin: o, Text: text, Raw: text}
			Wants(&r)
			tl.kubelet(&r)
			for i := range kubeletSays[o] { // whatever follows what is known
				r.Text = append([]byte(kubeletSays[o][i].begins), text...)
				tl.kubelet(&r)
			}
		}
	})
}

func FuzzRuntime(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add(line, []byte(`error="x \"`+idA+`\"" id=`+idB))
	}
	f.Fuzz(func(t *testing.T, text, fields []byte) {
		tl := listening(t)
		r := records.Record{Style: records.Logrus, Text: text, Fields: fields, Raw: text}
		tl.runtime(&r)
		for _, says := range runtimeSays {
			for i := range says {
				r.Text = append([]byte(says[i].begins), text...)
				tl.runtime(&r)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add(line)
	}
	f.Add([]byte(`{"items":[{"involvedObject":{"kind":"Pod","namespace":"a","name":"b"},"reason":"Killing","message":"x"}]}`))
	f.Add([]byte(`{"ts":1.5,"caller":"a/kubelet.go:1","msg":"SyncLoop ADD","pods":[{"name":"a","namespace":"b"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tl := listening(t)
		r := records.Record{Style: records.JSON, Text: text, Raw: text}
		Wants(&r)
		tl.json(&r)
		r.Text = []byte(eventLine(string(text)))
		tl.json(&r)
	})
}

func FuzzTable(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tl := listening(t)
		for line := range bytes.Lines(text) {
			r := records.Record{Style: records.Plain, Text: bytes.TrimSpace(line), Raw: line}
			wantsTable(&r)
			tl.table(&r)
		}
	})
}
