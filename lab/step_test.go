package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTogetherReturnsTheFirstErrorAndStopsTheOthers(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	stopped := false
	err := together(t.Context(),
		func(context.Context) error { return boom },
		func(ctx context.Context) error { <-ctx.Done(); stopped = true; return ctx.Err() },
	)
	if !errors.Is(err, boom) || !stopped {
		t.Errorf("got %v, the other stopped: %v", err, stopped)
	}
}

func TestEventually(t *testing.T) {
	t.Parallel()
	n := 0
	err := Eventually(t.Context(), 5*time.Second, func(context.Context) error {
		if n++; n < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%v after %d tries", err, n)
	}
	last := errors.New("never")
	if err := Eventually(t.Context(), 300*time.Millisecond, func(context.Context) error { return last }); !errors.Is(err, last) {
		t.Errorf("got %v, want the last reason", err)
	}
}

func TestGrepCountsLinesOfAnyLength(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "log")
	text := "a needle\n" + strings.Repeat("x", 3*maxLine) + "\nneedle and needle\nlast line with a needle"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Grep(file, "needle"); n != 3 || err != nil {
		t.Errorf("got %d, %v; want 3", n, err)
	}
	if _, err := Grep(file+".none", "x"); err == nil {
		t.Error("a search of a missing log succeeded")
	}
}
