//go:build e2e

package rebuild

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
)

// rates are the times of writes, by kind, as watched at the API server.
type rates struct {
	mu   sync.Mutex
	seen map[string][]time.Time
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// window is the time over which rates are checked: on a busy machine a watch delivers
// several writes at once, so one second is too short.
const window = 10 * time.Second

// watch watches all writes of blocks and handles from now on.
func (c *cluster) watch(t *testing.T) *rates {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &rates{seen: map[string][]time.Time{}, stop: cancel}
	for _, kind := range []string{"ipamblocks", "ipamhandles"} {
		var list struct {
			Metadata struct{ ResourceVersion string }
		}
		b, err := c.ask(ctx, http.MethodGet, calicoPath+kind+"?limit=1", nil)
		if err == nil {
			err = json.Unmarshal(b, &list)
		}
		if err != nil {
			t.Fatal(err)
		}
		path := calicoPath + kind + "?watch=1&timeoutSeconds=14400&resourceVersion=" + list.Metadata.ResourceVersion
		resp, err := c.open(ctx, http.MethodGet, path, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("watch %s: %v", kind, err)
		}
		r.wg.Go(func() {
			defer func() { _ = resp.Body.Close() }()
			in := bufio.NewScanner(resp.Body)
			in.Buffer(nil, 16<<20)
			for in.Scan() {
				r.mu.Lock()
				r.seen[kind] = append(r.seen[kind], time.Now())
				r.mu.Unlock()
			}
		})
	}
	return r
}

// judge requires that no rate exceeded its budget.
func (r *rates) judge(t *testing.T, to *report, took time.Duration) {
	t.Helper()
	time.Sleep(2 * time.Second) // the last writes have arrived by then
	r.stop()
	r.wg.Wait()
	for kind, budget := range map[string]float64{"ipamblocks": execute.Default.Blocks, "ipamhandles": execute.Default.Handles} {
		at := r.seen[kind]
		most, second := busiest(at, window), busiest(at, time.Second)
		to.add("writes of "+kind, fmt.Sprintf("%d", len(at)), fmt.Sprintf("%.1f/s on average, %.1f/s in the busiest %s, %d in the busiest second; budget %g/s",
			float64(len(at))/took.Seconds(), float64(most)/window.Seconds(), window, second, budget))
		if len(at) == 0 {
			t.Errorf("no write of %s arrived", kind)
		}
		if float64(most) > budget*window.Seconds()+budget/2 {
			t.Errorf("%s: %d writes in %s, budget %g/s", kind, most, window, budget)
		}
	}
}

// busiest is the largest number of writes within any span of that length.
func busiest(at []time.Time, span time.Duration) int {
	most, from := 0, 0
	for i := range at {
		for at[i].Sub(at[from]) >= span {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}
