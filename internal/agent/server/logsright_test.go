package server

import (
	"net/http/httptest"
	"testing"

	"plumbline.dev/plumbline/internal/agent"
)

// Only a request that names nothing but a pod needs just the right of the pod's namespace.
func TestLogsRight(t *testing.T) {
	t.Parallel()
	for query, namespace := range map[string]string{
		"pod=shop/x": "shop", "pod=shop/x&since=2026-01-01T00:00:00Z": "shop",
		"": "", "pod=x": "", "pod=/x": "", "pod=shop/": "", "address=10.0.0.1": "", "pod=shop/x&address=10.0.0.1": "", "pod=shop/x&sandbox=0123456789ab": "",
		"pod=shop/x&uid=01234567-0123-0123-0123-0123456789ab": "", "pod=shop/x&other=1": "",
	} {
		r := logsRight(httptest.NewRequestWithContext(t.Context(), "GET", "/"+agent.PathLogs+"?"+query, nil))
		if r.Resource != "nodelogs" || r.Namespace != namespace {
			t.Errorf("%q: %+v, want namespace %q", query, r, namespace)
		}
	}
}
