package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline/pick"
)

const boxA = "340b1c7a1a908463446030e936216ed961208ef19c39137d4265fcf33cd19472"

var now0 = time.Date(2026, 11, 15, 14, 0, 0, 0, time.UTC)

const end = `{"end":{"node":"n1","taken":"2026-11-15T14:00:00Z","zone":"+08:00","files":[{"name":"/a.log","source":"cni","modified":"2026-11-15T14:00:00Z","handed":2}],"missing":["a\u001b[2Jb"]}}`

func askLogs(t *testing.T, answer string) (*Logs, error) {
	t.Helper()
	f := &Fleet{Open: func(_ context.Context, node, path string, q url.Values) (io.ReadCloser, error) {
		if node != "n1" || path != PathLogs || q.Get("pod") != "ns/p" {
			return nil, errors.New("another question")
		}
		return io.NopCloser(strings.NewReader(answer)), nil
	}}
	return f.Logs(t.Context(), "n1", pick.Question{Namespace: "ns", Pod: "p"})
}

// An answer is taken whole and from the node itself, or not at all.
func TestFleetLogs(t *testing.T) {
	t.Parallel()
	lines := `{"file":"/a.log","line":3,"text":"one\ntwo"}` + "\n" + `{"file":"/a.log","line":7,"text":"three"}` + "\n"
	l, err := askLogs(t, lines+end)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Texts[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if string(b) != "one two\nthree\n" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	x := &l.Texts[0]
	if x.Source != "cni" || x.Number(1) != 3 || x.Number(2) != 7 || x.Number(0) != 0 || x.Number(3) != 0 || l.Missing[0] != "a?[2Jb" {
		t.Errorf("%+v %q", x, l.Missing)
	}
	if _, offset := l.Taken.In(l.ZoneOf()).Zone(); offset != 8*3600 {
		t.Errorf("%d", offset)
	}
	for name, c := range map[string]struct{ answer, want string }{
		"nothing":           {"", "before its end"},
		"cut":               {lines, "before its end"},
		"cut in a line":     {lines[:20], "before its end"},
		"another node":      {lines + strings.Replace(end, "n1", "n2", 1), `"n2" answers`},
		"fewer lines":       {lines[:strings.IndexByte(lines, '\n')] + end, "other lines"},
		"a file not listed": {strings.ReplaceAll(lines, "/a", "/b") + end, "other lines"},
		"a name that plays": {strings.ReplaceAll(lines, "/a", `/\u001b[2J`) + end, "no file"},
		"no JSON":           {"<html>", "invalid character"},
		"endless":           {strings.Repeat(`{"file":"/a.log","line":1,"text":"`+strings.Repeat("x", 1000)+`"}`, 10_000) + end, "longer"},
	} {
		if _, err := askLogs(t, c.answer); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "ask n1 for logs: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a kubelet hands out of journald is picked from in the same way, and scrubbed here.
func TestPickJournal(t *testing.T) {
	t.Parallel()
	text := "Nov 15 13:06:26.158011 w1 kubelet[36]: E1115 stop " + boxA + "\n" +
		"Nov 15 13:06:27.158011 w1 kubelet[36]: other\n" +
		"Nov 15 13:06:28.158011 w1 kubelet[36]: pod=\"ns/p\" " + boxA + " SECRET\n"
	hide := func(dst, b []byte) []byte { return append(dst, bytes.ReplaceAll(b, []byte("SECRET"), nil)...) }
	q := pick.Question{Namespace: "ns", Pod: "p"}
	got := PickJournal(q, "journald:kubelet", "kubelet", now0, []byte(text), hide)
	if got.Lines != 3 || got.Handed != 2 || got.Number(1) != 1 || got.Number(2) != 3 || bytes.Contains(got.text, []byte("SECRET")) {
		t.Errorf("%+v", got)
	}
}

func FuzzReadLogs(f *testing.F) {
	f.Add([]byte(`{"file":"/a.log","line":3,"text":"x"}` + end))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := readLogs(bytes.NewReader(b), "n1")
		if err == nil && l.Node != "n1" {
			t.Error("another node")
		}
	})
}
