package calico

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What etcd answers below /v2/keys, by its documentation.
func TestCalico2At(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"Calico 2":         {200, `{"action":"get","node":{"key":"/calico/v1","dir":true,"nodes":[{"key":"/calico/v1/host","dir":true,"modifiedIndex":7,"createdIndex":7}],"modifiedIndex":5,"createdIndex":5}}`, true},
		"somebody else's":  {404, `{"errorCode":100,"message":"Key not found","cause":"/calico","index":14}`, false},
		"without API 2":    {404, "404 page not found\n", false},
		"no etcd at all":   {200, "<html></html>", false},
		"an endless reply": {200, strings.Repeat(" ", 2<<20) + `{"node":{"key":"/calico/v1"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != calico2Key {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			defer s.Close()
			for _, at := range []string{s.URL, s.URL + "/", strings.TrimPrefix(s.URL, "http://")} {
				if got := calico2At(t.Context(), at, nil); got != test.want {
					t.Errorf("%s: %v", at, got)
				}
			}
		})
	}
	if calico2At(t.Context(), "http://127.0.0.1:1", nil) || calico2At(t.Context(), "::", nil) {
		t.Error("nobody answers there")
	}
}
