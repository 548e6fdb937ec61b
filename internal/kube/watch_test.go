package kube

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A turn is what the server does to one request for a watch; then it breaks off.
type turn struct {
	code  int
	retry string
	sends []byte
	stays bool // open until the client leaves
}

// server answers with one turn after the other and notes what it was asked for.
func server(t *testing.T, turns ...turn) (*Client, func() []url.Values) {
	t.Helper()
	var mu sync.Mutex
	var asked []url.Values
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n := len(asked)
		asked = append(asked, r.URL.Query())
		mu.Unlock()
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		turn := turns[min(n, len(turns)-1)]
		if turn.retry != "" {
			w.Header().Set("Retry-After", turn.retry)
		}
		if turn.code != 0 {
			w.WriteHeader(turn.code)
			return
		}
		_, _ = w.Write(turn.sends)
		_ = http.NewResponseController(w).Flush()
		if turn.stays {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler) // in the middle of an answer
	}))
	t.Cleanup(srv.Close)
	base, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{base: base, http: srv.Client(), Options: Options{Timeout: 10 * time.Second}}
	return c, func() []url.Values {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
}

func podOf(name string, rev int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, ResourceVersion: fmt.Sprint(rev)}}
}

// followed runs a follower until something ends it, or so many changes were told.
func followed(t *testing.T, c *Client, since map[model.Table]string, until int) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var mu sync.Mutex
	var told []string
	err := Follower{c}.Follow(ctx, since, func(cs []observe.Change) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range cs {
			if c.At.IsZero() {
				t.Errorf("%s: no time", c.Ref)
			}
			said := c.Ref.Name + "-"
			if c.Row != nil {
				said = c.Ref.Name + "@" + c.Row.(*model.Pod).Revision
			}
			told = append(told, said)
		}
		if len(told) >= until {
			cancel()
		}
	})
	return strings.Join(told, " "), err
}

// A connection that breaks, in the middle of an event as well, is taken up after what was
// told: nothing is lost, nothing comes twice.
func TestWatchIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	cat := slices.Concat[[]byte]
	p15 := frame(t, "MODIFIED", podOf("x", 15))
	c, asked := server(t,
		turn{sends: cat(frame(t, "ADDED", podOf("x", 11)), frame(t, "DELETED", podOf("y", 12)), p15[:len(p15)/2])},
		turn{code: http.StatusTooManyRequests, retry: "1"},
		turn{code: http.StatusServiceUnavailable},
		turn{sends: cat(p15, frame(t, "BOOKMARK", bookmark("40")), []byte("\x00\x00\x00\x05xxxxx"))},
		turn{sends: frame(t, "ERROR", failed(500, 0))},
		turn{sends: nil},
		turn{sends: frame(t, "ADDED", podOf("z", 41)), stays: true},
	)
	begun := time.Now() //nolint:forbidigo // how long it waits is what is tested
	told, err := followed(t, c, map[model.Table]string{model.Pods: "10"}, 4)
	if told != "a/x@11 a/y- a/x@15 a/z@41" || !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v", told, err)
	}
	if took := time.Since(begun); took < time.Second {
		t.Errorf("Retry-After was not obeyed: %s", took)
	}
	var revs []string
	for _, q := range asked() {
		if q.Get("watch") != "true" || q.Get("allowWatchBookmarks") != "true" || q.Get("timeoutSeconds") == "" {
			t.Errorf("%v", q)
		}
		revs = append(revs, q.Get("resourceVersion"))
	}
	if got := strings.Join(revs, " "); got != "10 12 12 12 40 40 40" {
		t.Errorf("asked from %s", got)
	}
}

// badPod is an event whose pod is none.
func badPod() []byte {
	wrap := func(num protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
	}
	e := slices.Concat(wrap(1, []byte("ADDED")), wrap(2, wrap(1, append([]byte("k8s\x00"), wrap(2, []byte("\x0a\x7f"))...))))
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(e))), e...)
}

func TestWatchEndsForGood(t *testing.T) {
	t.Parallel()
	since := map[model.Table]string{model.Pods: "10"}
	for name, c := range map[string]struct {
		turn turn
		want error
	}{
		"gone":          {turn{code: http.StatusGone}, observe.ErrGone},
		"gone later":    {turn{sends: slices.Concat(frame(t, "BOOKMARK", bookmark("11")), frame(t, "ERROR", failed(410, 0)))}, observe.ErrGone},
		"no right":      {turn{code: http.StatusForbidden}, ErrForbidden},
		"not there":     {turn{code: http.StatusNotFound}, errNotFound},
		"cannot decode": {turn{sends: badPod()}, errWire},
	} {
		client, _ := server(t, c.turn, turn{stays: true})
		if told, err := followed(t, client, since, 1); !errors.Is(err, c.want) || told != "" {
			t.Errorf("%s: told %q, %v", name, told, err)
		}
	}
	client, asked := server(t, turn{stays: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := (Follower{client}).Follow(ctx, nil, func([]observe.Change) {}); !errors.Is(err, context.DeadlineExceeded) || len(asked()) != 0 {
		t.Errorf("nothing to follow: %v, asked %v", err, asked())
	}
}
