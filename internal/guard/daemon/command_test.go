package daemon

import (
	"io"
	"strings"
	"testing"
)

func TestRenamedFlag(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), Env{Args: []string{"--record=/x"}, Stderr: io.Discard, Getenv: func(string) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), "removed: use --event-log") {
		t.Error(err)
	}
}
