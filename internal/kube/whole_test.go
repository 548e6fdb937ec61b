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
	if c.http, err = through(cfg, base, mayRead); err != nil {
		t.Fatal(err)
	}
	if c.lists, err = wholeClient(cfg, base); err != nil {
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
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
		}
		fmt.Fprint(w, `{"items":[`)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(20 * time.Millisecond)
		fmt.Fprint(w, `]}`)
	}))
	defer srv.Close()
	for _, gentle := range []bool{true, false} {
		c := clientOf(t, srv.URL)
		c.Gentle = gentle
		most.Store(0)
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
