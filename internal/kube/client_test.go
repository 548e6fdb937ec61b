package kube

import (
	"net/http"
	"strings"
	"testing"
)

type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) { panic("sent") }

// Nothing but a GET leaves the client, whatever asks for it.
func TestOnlyReads(t *testing.T) {
	t.Parallel()
	for _, m := range []string{"POST", "PUT", "PATCH", "DELETE", "HEAD"} {
		q, err := http.NewRequestWithContext(t.Context(), m, "https://x/api", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (readOnly{unreachable{}}).RoundTrip(q); err == nil {
			t.Errorf("%s was sent", m)
		}
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{"v1.34.4": true, "v1.33.0": true, "v1.32.9": false, "v1.9.1": false, "v2.0.0": true, "1.34": false, "": false, "v1.34.1-eks-113cf36": true} {
		if got := streams(v); got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}
