package web_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/web"
)

// The door of a listener on this machine: a code that is good once, a cookie, the listener's own name, and no other site.
func TestLocal(t *testing.T) {
	t.Parallel()
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4321}
	inside := 0
	door := web.NewLocal(addr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inside++
		_, _ = io.WriteString(w, "in")
	}))
	ask := func(url string, edit func(*http.Request)) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if edit != nil {
			edit(r)
		}
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		return w.Result()
	}
	begin := door.URL()
	_, code, _ := strings.Cut(begin, "code=")
	if !strings.HasPrefix(begin, "http://127.0.0.1:4321/?code=") || len(code) < 20 {
		t.Fatal(begin)
	}
	base := "http://127.0.0.1:4321/"
	for name, r := range map[string]*http.Response{
		"no code":      ask(base, nil),
		"another code": ask(base+"?code=AAAAAAAAAAAAAAAAAAAAAAAAAA", nil),
		"rebound name": ask(begin, func(r *http.Request) { r.Host = "evil.example:4321" }),
		"other port":   ask(begin, func(r *http.Request) { r.Host = "127.0.0.1:4322" }),
		"other origin": ask(begin, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }),
		"null origin":  ask(begin, func(r *http.Request) { r.Header.Set("Origin", "null") }),
		"other site": ask(begin, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "no-cors")
		}),
		"same site, other port": ask(begin, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "same-site")
			r.Header.Set("Sec-Fetch-Mode", "cors")
		}),
	} {
		if r.StatusCode != http.StatusForbidden || len(r.Cookies()) > 0 {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
	post := ask(begin, func(r *http.Request) { r.Method = http.MethodPost })
	head := ask(begin, func(r *http.Request) { r.Method = http.MethodHead })
	if post.StatusCode != http.StatusForbidden || head.StatusCode != http.StatusForbidden {
		t.Errorf("POST %d, HEAD %d", post.StatusCode, head.StatusCode)
	}
	first := ask(begin, nil)
	text, err := io.ReadAll(first.Body)
	if err != nil || first.StatusCode != http.StatusOK || len(first.Cookies()) != 1 {
		t.Fatalf("the first time: %d %s %v", first.StatusCode, text, err)
	}
	c := first.Cookies()[0]
	dir := "http://127.0.0.1:4321" + c.Path
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || len(c.Path) < 20 || !strings.Contains(string(text), "url="+c.Path) {
		t.Errorf("cookie %+v, page %s", c, text)
	}
	if again := ask(begin, nil); again.StatusCode != http.StatusForbidden {
		t.Errorf("the code is good twice: %d", again.StatusCode)
	}
	with := func(r *http.Request) { r.AddCookie(c) }
	if r := ask(dir+"findings", with); r.StatusCode != http.StatusOK || inside != 1 {
		t.Errorf("with the cookie: %d, %d inside", r.StatusCode, inside)
	}
	for name, r := range map[string]*http.Response{
		"cookie, outside its directory": ask(base+"findings", with),
		"cookie, of another origin":     ask(dir+"findings", func(r *http.Request) { with(r); r.Header.Set("Origin", "http://127.0.0.1:9") }),
		"guessed cookie":                ask(dir+"findings", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: "guess"}) }),
		"no cookie":                     ask(dir+"findings", nil),
	} {
		if r.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
}
