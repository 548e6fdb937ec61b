package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Whole lists come by HTTP/1.1, and uncompressed from a server that is near; all else as
// before.
func TestWholeLists(t *testing.T) {
	t.Parallel()
	var got []string
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		got = append(got, fmt.Sprint(q.URL.Path, " ", q.Proto, " ", q.Header.Get("Accept-Encoding")))
		fmt.Fprint(w, `{"items":[]}`)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	cfg := &rest.Config{Host: srv.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	base, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{Options: Options{Timeout: time.Minute}, base: base}
	if c.http, err = through(cfg, base, MayRead); err != nil {
		t.Fatal(err)
	}
	if c.lists, err = unpagedClient(cfg, base); err != nil {
		t.Fatal(err)
	}
	list := func(path string, q url.Values) {
		t.Helper()
		if _, err := c.List(t.Context(), path, q, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	list("/far", nil)
	c.answered(time.Second)
	list("/far", nil)
	c.answered(time.Millisecond)
	c.answered(time.Second) // busy for once
	list("/near", nil)
	list("/some", url.Values{"fieldSelector": {"metadata.name=x"}})
	if _, _, err := c.Get(t.Context(), "/one"); err != nil {
		t.Fatal(err)
	}
	want := []string{"/far HTTP/1.1 gzip", "/far HTTP/1.1 gzip", "/near HTTP/1.1 identity", "/some HTTP/2.0 gzip", "/one HTTP/2.0 gzip"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Gently, lists come one after the other, to the end of each.
func TestGently(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	var patience atomic.Int64 // how long an answer waits for another to be asked for beside it
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
		}
		fmt.Fprint(w, `{"items":[`)
		_ = http.NewResponseController(w).Flush()
		for end := monotonic().Add(time.Duration(patience.Load())); most.Load() < 2 && monotonic().Before(end); {
			time.Sleep(time.Millisecond)
		}
		fmt.Fprint(w, `]}`)
	}))
	defer srv.Close()
	for _, gentle := range []bool{true, false} {
		c := clientOf(t, srv.URL)
		c.Gentle = gentle
		most.Store(0)
		patience.Store(int64(20 * time.Millisecond))
		if !gentle {
			patience.Store(int64(10 * time.Second))
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if _, err := c.List(t.Context(), "/l", nil, func([]byte) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := most.Load(); gentle != (got == 1) {
			t.Errorf("gentle %v: %d at once", gentle, got)
		}
	}
}

// A whole list that is cut off is read again in pages, each row once; a page that is cut off
// is lost, and said to be.
func TestPagesOfWhatIsCutOff(t *testing.T) {
	t.Parallel()
	var good, slow atomic.Bool
	good.Store(true)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		items, more := `{"metadata":{"name":"a","uid":"1"},"spec":{"type":"LoadBalancer"}}`, `"continue":"x"`
		if q.FormValue("continue") != "" {
			items, more = `{"metadata":{"name":"b","uid":"2"},"spec":{"type":"LoadBalancer"}}`, `"resourceVersion":"7"`
		}
		fmt.Fprintf(w, `{"metadata":{%s},"items":[%s`, more, items)
		_ = http.NewResponseController(w).Flush()
		if q.FormValue("limit") == "" && slow.Load() {
			<-q.Context().Done()
		}
		if q.FormValue("limit") == "" || !good.Load() {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `]}`)
	}))
	defer srv.Close()
	read := func(c *Client) (string, model.State) {
		s := observe.Snapshot(t.Context(), func(string, int, bool) {}, Services{c})
		var names []string
		for i := range s.Services {
			names = append(names, s.Services[i].Name)
		}
		return fmt.Sprint(names), s.Coverage[0].State
	}
	for _, endless := range []bool{false, true} {
		slow.Store(endless)
		c := clientOf(t, srv.URL)
		c.Timeout = 5 * time.Second
		if got, state := read(c); got != "[a b]" || state != model.Complete {
			t.Errorf("%s, %v", got, state)
		}
	}
	good.Store(false)
	slow.Store(false)
	paged := clientOf(t, srv.URL)
	paged.page.Store(1)
	for _, c := range []*Client{paged, clientOf(t, srv.URL)} {
		if got, state := read(c); got != "[]" || state != model.Lost {
			t.Errorf("%s, %v", got, state)
		}
	}
}
