//go:build e2e

package size

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// profile takes a CPU profile of the API server while something runs for longer than a
// few seconds, and returns a function that waits for it.
func (b *bench) profile(what string) (wait func()) {
	if *into == "" {
		return func() {}
	}
	done := make(chan error, 1)
	go func() {
		done <- b.profileTo(filepath.Join(*into, strings.ReplaceAll(fmt.Sprint(b.Datastore, "-", b.Pods, "-", what), " ", "-")+".pprof"))
	}()
	time.Sleep(200 * time.Millisecond) // it has begun
	return func() {
		if err := <-done; err != nil {
			b.t.Error(err)
		}
	}
}

func (b *bench) profileTo(path string) error {
	q, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.servers[toAPI].URL+"/debug/pprof/profile?seconds=5", nil)
	if err != nil {
		return err
	}
	resp, err := b.watched[toAPI].http.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
