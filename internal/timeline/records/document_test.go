package records

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/timelinetest"
)

func asEntries(t testing.TB, text string) (string, error) {
	t.Helper()
	b := bufio.NewReaderSize(strings.NewReader(text), headSize)
	head, _ := b.Peek(headSize)
	r, _, err := asLines(t.Context(), b, head, nil)
	if err != nil {
		return "", err
	}
	if _, ok := r.(entryReader); !ok {
		return "lines", nil
	}
	out, err := io.ReadAll(r)
	return string(out), err
}

// What is a document, and what its entries are: line in the file, time, node, program, process and
// message.
func TestDocuments(t *testing.T) {
	t.Parallel()
	const at = `"2026-11-15T10:31:56Z"`
	for text, want := range map[string]string{
		`{"log":"x","time":` + at + "}\n": "lines",
		`{"kind":"Event","message":"x"}`:  "lines",
		"{\n":                             "lines",
		"[INFO] x\n":                      "lines",
		"[\n {\"line\":\"x\",\"timestamp\":" + at + "},\n {\"line\":\"y\"}]":                                             "1 1794738716000000    x\n2     {\"line\":\"y\"}\n",
		"{\n \"log\": \"a\\nb\",\n \"time\": " + at + "\n}\n{\n \"log\": 7}":                                             "0 1794738716000000    a b\n4     {\"log\":7}\n",
		`{"took":1,"hits":{"total":2,"hits":[{"_source":{"message":"x","host":"n 1","timestamp":1794738716}}]},"x":[1]}`: "0 1794738716000000 n_1   x\n",
		"{\n  \"kind\": \"List\",\n  \"items\": [\n    {\"kind\": \"Event\"}\n  ]\n}\n":                                  "3     {\"kind\":\"Event\"}\n",
		`{"events":[]}`: "",
		`{"events":3}`:  "lines",
		"message,time\nx," + strings.Trim(at, `"`) + "\n\"a\nb\",1794738716\n":                                    "1 1794738716000000    x\n2 1794738716000000    a b\n",
		"Sun 2026-11-15 10:31:56.000000 UTC [s=a;i=1]\n    MESSAGE=x\n    _HOSTNAME=n\n    _PID=7\n    OTHER=y\n": "0 1794738716000000 n  7 x\n",
		"Sun 2026-11-15 10:31:56.000000 CST [s=a;i=1]\n    MESSAGE=x\n":                                           "0     x\n",
	} {
		if got, err := asEntries(t, text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		`{"events":[{"a":1},{`:                                     "after line 1",
		"[\n{\"a\":1},\nx]":                                        "after line 2",
		`[{"a":"` + strings.Repeat("x", 2*maxValue) + `"}]`:        "too large",
		"{\n \"items\": " + strings.Repeat(`{"items": `, 20) + "1": "nested too deeply",
	} {
		if got, err := asEntries(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %.80q, %v", text, got, err)
		}
	}
}

// FuzzDocument: whatever a document is, every line of its entries can be read.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"hits":{"hits":[{"_source":{"message":"x","@timestamp":"2026-11-15T10:31:56Z"}}]}}`))
	f.Add([]byte("[\n{\"line\":\"x\",\"timestamp\":\"1794738716000000000\"}]"))
	f.Add([]byte("@timestamp,message\n\"Nov 15, 2026 @ 10:31:56.000\",x\n"))
	f.Add([]byte("Sun 2026-11-15 10:31:56.000000 UTC [s=a]\n    MESSAGE=x\n"))
	f.Add([]byte("apiVersion: v1\nitems:\n- kind: Event\n  message: x\n- &a {b: *a}\nkind: List\n---\nkind: Event\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, _ := asEntries(t, string(b))
		if out == "lines" {
			return
		}
		p := parser{names: &names{}, export: true}
		for line := range bytes.Lines([]byte(out)) {
			if p.parse(bytes.TrimSuffix(line, newline)); !p.headed {
				t.Errorf("%q of %q", line, b)
			}
		}
	})
}

// What is cut off is said to be, wherever the cut is: never complete.
func TestCutOffIsSaid(t *testing.T) {
	t.Parallel()
	packed := func(name string) []byte {
		return timelinetest.Wrappings[name](timelinetest.Lines(strings.Repeat("time=\"2026-11-15T10:31:56Z\" level=info msg=\"starting containerd\"\n", 50), 2026, "n1", "containerd"))
	}
	for name, whole := range map[string][]byte{
		"list":     []byte("[\n{\"line\":\"x\",\"timestamp\":\"1794738716000000000\"},\n{\"line\":\"y\",\"timestamp\":\"1794738717000000000\"}\n]\n"),
		"answer":   []byte("{\"kind\":\"List\",\"items\":[{\"a\":1},{\"b\":2}]}"),
		"xz":       packed("18-xz"),
		"gzip":     packed("17-gzip"),
		"in a zip": packed("18c-zip"),
	} {
		for cut := 40; cut < len(bytes.TrimSpace(whole)); cut++ {
			in := Input{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole[:cut])), nil }}
			files, err := All(t.Context(), []Input{in}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(f timeline.File) bool { return len(f.Left) > 0 }) {
				t.Errorf("%s of %d bytes, cut after %d: %+v", name, len(whole), cut, files)
			}
		}
	}
}

// A quote that is never closed does not take the memory of the whole file, and is said.
func TestRowIsBounded(t *testing.T) {
	t.Parallel()
	text := "@timestamp,message\n2026-11-15T10:31:56Z,\"" + strings.Repeat("x,\n", 2*maxValue/3)
	_, err := asEntries(t, text)
	if !errors.Is(err, errValue) {
		t.Errorf("%v", err)
	}
}
