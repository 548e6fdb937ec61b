package web

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// A Local admits one browser on this machine: by a code that is good once, and by a cookie afterwards. A page of another
// origin can neither read it nor drive it: the name by which it is asked must be the listener's own (so that a name that
// was bound to this address is refused), and the browser must not say that another site asks. Browsers send cookies of
// one port to all; this one belongs to a directory with a random name, which is asked of nobody else.
type Local struct {
	hosts []string
	code  string
	dir   string
	value string
	used  atomic.Bool
	next  http.Handler
}

const cookie = "plumbline"

// NewLocal puts a handler behind the door of a listener on loopback.
func NewLocal(addr net.Addr, next http.Handler) *Local {
	_, port, _ := net.SplitHostPort(addr.String()) // a listener's address
	l := &Local{hosts: []string{addr.String()}, code: rand.Text(), dir: "/" + rand.Text() + "/", value: rand.Text()}
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		l.hosts = append(l.hosts, name+":"+port)
		if port == "80" {
			l.hosts = append(l.hosts, name) // browsers leave it out
		}
	}
	l.next = http.StripPrefix(strings.TrimSuffix(l.dir, "/"), next)
	return l
}

// URL is where a browser begins.
func (l *Local) URL() string { return "http://" + l.hosts[0] + "/?code=" + l.code }

func (l *Local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := r.Cookie(cookie)
	switch {
	case !slices.Contains(l.hosts, r.Host) || !sameSite(r):
		http.Error(w, "This address shows a cluster to the person who started it, and is not for other sites.", http.StatusForbidden)
	case r.URL.Path == "/" && r.Method == http.MethodGet && equal(r.URL.Query().Get("code"), l.code):
		l.enter(w)
	case !strings.HasPrefix(r.URL.Path, l.dir) || err != nil || !equal(c.Value, l.value):
		http.Error(w, "Open the address that plumbline ui printed.", http.StatusForbidden)
	default:
		l.next.ServeHTTP(w, r)
	}
}

// enter gives the browser its cookie, once. The page leads on by itself: a redirect of a link in another site's page would
// come without the cookie.
func (l *Local) enter(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if !l.used.CompareAndSwap(false, true) {
		http.Error(w, "This address was opened before: its code is good once. Run plumbline ui again.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: l.value, Path: l.dir, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><html lang=\"en\"><meta http-equiv=\"refresh\" content=\"0; url=%s\"><title>Plumbline</title><a href=\"%s\">Plumbline</a>", l.dir, l.dir)
}

// sameSite tells that no other site asks, as far as the browser says so. A link from elsewhere may open the first page,
// which has no right without its code.
func sameSite(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	default:
		return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	}
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
