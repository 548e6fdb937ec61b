package kube

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// sent notes what was let through.
type sent struct{ got *[]string }

func (s sent) RoundTrip(q *http.Request) (*http.Response, error) {
	*s.got = append(*s.got, q.Method+" "+q.URL.Path)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func passes(t *testing.T, prefix string, may func(method, path string) bool, method, at string) bool {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, "https://x"+at, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	_, err = guarded{RoundTripper: sent{&got}, prefix: prefix, may: may}.RoundTrip(q)
	if (err == nil) != (len(got) == 1) {
		t.Errorf("%s %s: %v, sent %q", method, at, err, got)
	}
	return err == nil
}

const (
	tokenOfReader = "/api/v1/namespaces/plumbline-system/serviceaccounts/plumbline-reader/token"
)

// Nothing but a GET leaves the client, whatever asks for it, and the one question for a token.
func TestOnlyReads(t *testing.T) {
	t.Parallel()
	paths := []string{
		"/api/v1/pods", "/api/v1/namespaces/a/pods", "/api/v1/namespaces/a/pods/b", "/api/v1/namespaces/kube-system/pods/plumbline-probe-x7k2p", tokenOfReader + "/", tokenOfReader + "/x", "/x" + tokenOfReader,
		"/api/v1/namespaces/a/serviceaccounts", "/api/v1/namespaces/a/serviceaccounts/plumbline-reader", "/api/v1/namespaces/a/serviceaccounts/admin/token",
		"/api/v1/namespaces/a/serviceaccounts/plumbline-reader-x/token", "/api/v1/namespaces/a/../b/serviceaccounts/plumbline-reader/token",
		"/api/v1/namespaces/a%2fb/serviceaccounts/plumbline-reader/token", "/api/v1/namespaces/a/serviceaccounts/plumbline%2dreader/token", "/apis/apps/v1/deployments", "/",
	}
	for _, m := range []string{"POST", "PUT", "PATCH", "DELETE", "HEAD", "CONNECT", "OPTIONS", "get", ""} {
		for _, p := range paths {
			if m != "" && passes(t, "", MayRead, m, p) {
				// %2d is a hyphen, wherever it stands: it is the same name, and is refused all the same.
				t.Errorf("%s %s was sent", m, p)
			}
		}
		if m != "POST" && m != "" && passes(t, "", MayRead, m, tokenOfReader) {
			t.Errorf("%s of a token was sent", m)
		}
	}
	for _, p := range []string{
		"/api/v1/namespaces/a/pods/b/exec", "/api/v1/namespaces/a/pods/b/attach", "/api/v1/namespaces/a/pods/b/portforward", "/api/v1/namespaces/a/pods/b/proxy/x",
		"/api/v1/namespaces/a/pods/https:b:10250/proxy/run", "/api/v1/namespaces/a/services/b/proxy", "/api/v1/nodes/b/proxy/exec",
	} {
		if passes(t, "", MayRead, "GET", p) {
			t.Errorf("GET %s was sent", p)
		}
	}
	for _, c := range [][2]string{
		{"GET", "/api/v1/pods"},
		{"GET", "/api/v1/namespaces/a/pods/b/log"},
		{"GET", "/api/v1/namespaces/a/pods/https:b:9474/proxy/v1/tables"},
		{"GET", "/apis/x/v1/proxy"},
		{"POST", tokenOfReader},
		{"POST", strings.Replace(tokenOfReader, "reader", "repairer", 1)},
	} {
		if !passes(t, "", MayRead, c[0], c[1]) || !passes(t, "/k8s/clusters/c-1", MayRead, c[0], "/k8s/clusters/c-1"+c[1]) {
			t.Errorf("%s was not sent", c)
		}
	}
	if passes(t, "/k8s/clusters/c-1", MayRead, "GET", "/other") {
		t.Error("another server's path was sent")
	}
}

// Whoever answers with another address does not get the user's credentials there.
func TestNobodyIsFollowed(t *testing.T) {
	t.Parallel()
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }))
	defer srv.Close()
	c := clientOf(t, srv.URL)
	if _, _, err := c.Get(t.Context(), "/api/v1/pods"); err == nil || followed {
		t.Errorf("%v, followed %v", err, followed)
	}
}

func clientOf(t *testing.T, at string) *Client {
	t.Helper()
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	hc, err := through(&rest.Config{Host: at, BearerToken: "secret"}, base, MayRead)
	if err != nil {
		t.Fatal(err)
	}
	return &Client{Options: Options{Timeout: 1e10}, base: base, http: hc}
}
