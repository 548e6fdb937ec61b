package records

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func seeded(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	for _, pattern := range []string{"testdata/*.log", "testdata/seeds/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatal(pattern, err)
		}
		for _, n := range names {
			b, err := os.ReadFile(n)
			if err != nil {
				f.Fatal(err)
			}
			out = append(out, b)
		}
	}
	return out
}

// FuzzHeaders: whatever the line, its parts are parts of it, or of what it escapes.
func FuzzHeaders(f *testing.F) {
	for _, b := range seeded(f) {
		for _, line := range bytes.SplitN(b, newline, 40)[:20] {
			f.Add(line, false)
		}
	}
	f.Add([]byte(`{"_COMM":"dockerd","__REALTIME_TIMESTAMP":"1794739916650149","MESSAGE":[104,105,27]}`), false)
	f.Add([]byte(`{"log":"I1115 10:31:56.650149      36 a.go:1] \u003cnil\u003e \"x\"\n","stream":"stderr","time":"2026-11-15T10:31:56.7Z"}`), false)
	f.Add([]byte(`<30>1 2026-11-15T10:31:56.5+01:00 node1 containerd 77 - [a b="\]"] time="2026-11-15T09:31:56Z" level=error msg="x"`), false)
	f.Add([]byte("\x1b[36m[pod/a/b] I1115 10:31:56.650149      36 a.go:1] x\x1b[0m"), false)
	f.Add([]byte(`{"_source":{"host":{"name":"n"},"message":"x","@timestamp":"2026-11-15T10:31:56Z"}}`), false)
	f.Add([]byte(`{"a":"b","level":"info","msg":"x","time":"2026-11-15T10:31:56Z"}`), false)
	f.Add([]byte(`1 1794739916650149 node kubelet 7 hello`), true)
	f.Fuzz(func(t *testing.T, line []byte, export bool) {
		p := parser{names: &names{}, export: export}
		p.parse(line)
		if len(p.rec.Text) > 4*len(line) || len(p.rec.Fields) > len(line) || len(p.rec.Raw) > len(line) || len(p.rec.Origin) > len(line) {
			t.Errorf("%q became more: %+v", line, p.rec)
		}
		for _, s := range []stamp{p.outer, p.inner, jsonStamp(line)} {
			if s.is() && (s.month > 12 || s.day < 1 || s.day > 31 || s.hour > 23 || s.nano < 0 || s.nano > 999999999) {
				t.Errorf("%q: %+v", line, s)
			}
		}
		c := clock{now: time.Unix(1794739916, 0)}
		c.chunk(dates{first: 60, last: 60})
		c.at(&p.outer, &p.inner)
		if text, again := string(p.rec.Text), string(p.rec.Raw); true {
			p.parse(bytes.Clone(line))
			if string(p.rec.Text) != text || string(p.rec.Raw) != again {
				t.Errorf("%q is read in two ways", line)
			}
		}
	})
}

// FuzzAll: whatever the bytes, and wherever chunks end, the records are the same.
func FuzzAll(f *testing.F) {
	for _, b := range seeded(f) {
		f.Add(b[:min(len(b), 3000)], uint16(100))
	}
	f.Add([]byte(wrapped(f)), uint16(30))
	f.Add([]byte("__CURSOR=s=1\n__REALTIME_TIMESTAMP=1794739916650149\nMESSAGE\n\x02\x00\x00\x00\x00\x00\x00\x00hi\n\n"), uint16(3))
	f.Add([]byte("\x1f\x8b"), uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, size uint16) {
		files, want := records(t, chunkSize, Options{}, file("x", string(b)))
		again, got := records(t, 1+int(size), Options{Workers: 3}, file("x", string(b)))
		if len(files) != len(again) || len(files[0].Left) != len(again[0].Left) {
			t.Fatalf("%+v and %+v", files, again)
		}
		for i := range want {
			if len(want[i]) != len(got[i]) {
				t.Fatalf("%d and %d records", len(want[i]), len(got[i]))
			}
			for k := range want[i] {
				if !same(want[i][k], got[i][k]) {
					t.Fatalf("%+v and %+v", want[i][k], got[i][k])
				}
			}
		}
	})
}
