package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

// fleet is a client of one agent, past the gate.
func fleet(h http.Handler) *agent.Fleet {
	answer := func(r *http.Request) (io.ReadCloser, error) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return nil, fmt.Errorf("%d: %s", w.Code, strings.TrimSpace(w.Body.String()))
		}
		return io.NopCloser(w.Body), nil
	}
	return &agent.Fleet{
		Open: func(ctx context.Context, _, path string, q url.Values) (io.ReadCloser, error) {
			return answer(httptest.NewRequestWithContext(ctx, http.MethodGet, "/"+path+"?"+q.Encode(), nil))
		},
		Post: func(ctx context.Context, _, path string, body []byte) (io.ReadCloser, error) {
			return answer(httptest.NewRequestWithContext(ctx, http.MethodPost, "/"+path, bytes.NewReader(body)))
		},
	}
}

// An oneObject is a server with one object, and a verb that deletes it.
type oneObject struct {
	*Server
	mu    sync.Mutex
	value string // empty: it is not there
	begun bool
	err   error
	after func()
}

func newOneObject() *oneObject {
	o := &oneObject{value: "v", begun: true}
	o.Server = New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now, Writer: &NodeWriter{}})
	o.read = func(context.Context, model.Ref, map[string]string) (*readState, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.value == "" {
			return nil, nil
		}
		return &readState{body: o.value, says: "it is " + o.value}, nil
	}
	o.verbs = map[string]verb{"take": {model.KindLink, true, func(_ context.Context, _ *readState, _ map[string]string, dry bool) (bool, error) {
		if o.after != nil {
			o.after()
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil && !dry {
			o.value = ""
		}
		return o.begun && !dry, o.err
	}}}
	return o
}

func (o *oneObject) recorded() (notes []string) {
	for {
		select {
		case e := <-o.entries:
			notes = append(notes, e.What+" "+e.Of+" "+e.Name+": "+e.Note)
		default:
			return notes
		}
	}
}

var one = model.Ref{Kind: model.KindLink, Name: "n1/cali1"}

func TestChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*oneObject)
		change  func(*agent.Change)
		want    string // done, already, refused: …, dry, or error
		records int
	}{
		"done":                 {want: "done", records: 2},
		"dry":                  {change: func(c *agent.Change) { c.DryRun = true }, want: "dry", records: 2},
		"only a reader":        {prepare: func(o *oneObject) { o.writer = nil }, want: "refused: this agent only reads"},
		"no such verb":         {change: func(c *agent.Change) { c.Verb = "give" }, want: "refused: unknown verb"},
		"of another kind":      {change: func(c *agent.Change) { c.Ref.Kind = model.KindMount }, want: "refused: take is for a link"},
		"of another node":      {change: func(c *agent.Change) { c.Ref.Name = "n2/cali1" }, want: "refused: the object belongs to another node"},
		"nothing is expected":  {change: func(c *agent.Change) { c.Expect = "" }, want: "refused: the change has no expected digest"},
		"it is another":        {prepare: func(o *oneObject) { o.value = "w" }, want: "refused: the object has changed since the plan: it is w"},
		"it does not exist":    {prepare: func(o *oneObject) { o.value = "" }, want: "already"},
		"the verb refuses":     {prepare: func(o *oneObject) { o.begun, o.err = false, errors.New("no") }, want: "refused: no", records: 2},
		"the verb fails":       {prepare: func(o *oneObject) { o.err = errors.New("broken") }, want: "error", records: 2},
		"it goes while we try": {prepare: func(o *oneObject) { o.err = fmt.Errorf("x: %w", kernel.ErrGone) }, want: "already", records: 2},
		"it is so already":     {prepare: func(o *oneObject) { o.begun, o.err = false, errAlready }, want: "already", records: 2},
		"it was for something else": {prepare: func(o *oneObject) {
			v := o.verbs["take"]
			v.gone = false
			o.verbs["take"], o.value = v, ""
		}, want: "refused: the object does not exist"},
	} {
		o := newOneObject()
		f := fleet(o.handler())
		thing, err := f.NodeObject(t.Context(), one, nil)
		if err != nil || thing.Digest == "" || string(thing.Body) != `"v"` {
			t.Fatalf("%+v, %v", thing, err)
		}
		if c.prepare != nil {
			c.prepare(o)
		}
		change := agent.Change{Verb: "take", Ref: one, Expect: thing.Digest}
		if c.change != nil {
			c.change(&change)
		}
		was := o.value
		got, err := f.Change(t.Context(), change)
		said := "dry"
		switch {
		case err != nil:
			said = "error"
		case got.Done:
			said = "done"
		case got.Already:
			said = "already"
		case got.Refused != "":
			said = "refused: " + got.Refused
		}
		if !strings.HasPrefix(said, c.want) || c.want != "done" && o.value != was || c.want == "done" && (o.value != "" || got.Digest != "") {
			t.Errorf("%s: %s, %+v, %v; it is %q", name, said, got, err, o.value)
		}
		if notes := o.recorded(); len(notes) != c.records || len(notes) > 0 && !strings.HasPrefix(notes[0], "take link cali1: ") {
			t.Errorf("%s: recorded %q", name, notes)
		}
	}
}

// What is not a change, or says more than we understand, is none.
func TestChangeMalformed(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "nonsense", "[]", `{"verb":"take","expekt":"x"}`, `{"verb":1}`} {
		o := newOneObject()
		w := httptest.NewRecorder()
		o.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/"+agent.PathChange, strings.NewReader(body)))
		if w.Code != http.StatusBadRequest || o.value != "v" {
			t.Errorf("%q: %d", body, w.Code)
		}
	}
	o := newOneObject()
	w := httptest.NewRecorder()
	o.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+agent.PathChange, nil))
	if w.Code == http.StatusOK {
		t.Errorf("a change that only reads: %d", w.Code)
	}
}

// One at a time; who comes in between is not told that it was done.
func TestOneChangeAtATime(t *testing.T) {
	t.Parallel()
	o := newOneObject()
	here, on := make(chan struct{}), make(chan struct{})
	o.after = func() { close(here); <-on }
	f := fleet(o.handler())
	thing, err := f.NodeObject(t.Context(), one, nil)
	if err != nil {
		t.Fatal(err)
	}
	change := agent.Change{Verb: "take", Ref: one, Expect: thing.Digest}
	results := make(chan agent.Changed, 2)
	for range 2 {
		go func() {
			got, err := f.Change(context.WithoutCancel(t.Context()), change)
			if err != nil {
				t.Error(err)
			}
			results <- got
		}()
	}
	<-here
	time.Sleep(20 * time.Millisecond)
	close(on)
	a, b := <-results, <-results
	if a.Done == b.Done || a.Already == b.Already {
		t.Errorf("%+v and %+v", a, b)
	}
}

// Whoever hung up before it was begun does not get it done.
func TestChangeForNobody(t *testing.T) {
	t.Parallel()
	o := newOneObject()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ := o.read(ctx, one, nil)
	if got, err := o.change(ctx, agent.Change{Verb: "take", Ref: one, Expect: s.digest()}); err != nil || got.Refused == "" || o.value != "v" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The record has what was changed, and as it was.
func TestChangeIsRecorded(t *testing.T) {
	t.Parallel()
	o := newOneObject()
	s, _ := o.read(t.Context(), one, nil)
	if got, err := o.change(t.Context(), agent.Change{Verb: "take", Ref: one, Expect: s.digest(), Args: map[string]string{"index": "7"}}); err != nil || !got.Done {
		t.Fatalf("%+v, %v", got, err)
	}
	var last eventlog.Entry
	for range 2 {
		last = (<-o.entries).Entry
		if string(last.Was) != `"v"` || string(last.Now) != `{"index":"7"}` || last.At.IsZero() {
			t.Errorf("%+v", last)
		}
	}
	if !strings.Contains(last.Note, "Done:true") {
		t.Errorf("%+v", last)
	}
}

// Every verb is for a kind of thing that a node has, and every one is known.
func TestVerbs(t *testing.T) {
	t.Parallel()
	s := New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now})
	var names []string
	for name, v := range s.verbs {
		names = append(names, name)
		if (model.Ref{Kind: v.kind, Name: "n1/x"}).OnNode() != "n1" || v.do == nil || touched[v.kind] == nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "abort remove sysctl unlink unneighbour unroute" {
		t.Error(got)
	}
}

func FuzzChange(f *testing.F) {
	f.Add([]byte(`{"verb":"take","ref":{"kind":"link","name":"n1/cali1"},"expect":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		o := newOneObject()
		w := httptest.NewRecorder()
		o.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/"+agent.PathChange, bytes.NewReader(body)))
		if o.value != "v" || w.Code == http.StatusInternalServerError {
			t.Errorf("%q: %d", body, w.Code)
		}
		var c agent.Changed
		if w.Code == http.StatusOK && json.Unmarshal(w.Body.Bytes(), &c) == nil && c.Done {
			t.Errorf("%q: %+v", body, c)
		}
	})
}
