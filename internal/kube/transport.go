package kube

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/client-go/rest"
)

// A guarded transport sends only admitted requests: no bug in the caller can write.
type guarded struct {
	http.RoundTripper
	prefix string // path prefix of the API server, if it is behind a proxy
	may    func(method, path string) bool
}

func (g guarded) RoundTrip(q *http.Request) (*http.Response, error) {
	path, ours := strings.CutPrefix(q.URL.Path, g.prefix)
	escaped := q.Method != http.MethodGet && q.URL.RawPath != "" // it could be read in two ways
	if !ours || escaped || !plain(path) || !g.may(q.Method, path) {
		return nil, fmt.Errorf("%s %s: this client does not send this request", q.Method, q.URL.Path)
	}
	return g.RoundTripper.RoundTrip(q)
}

// plain reports whether a path is read by everybody in one way.
func plain(path string) bool {
	return !strings.Contains(path, "//") && !strings.Contains(path+"/", "/../") && strings.IndexFunc(path, unicode.IsControl) < 0
}

// through returns a client whose requests are all guarded. It follows no redirects: the
// user's credentials would go along.
func through(cfg *rest.Config, base *url.URL, may func(method, path string) bool) (*http.Client, error) {
	own := rest.CopyConfig(cfg)
	own.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return guarded{RoundTripper: rt, prefix: strings.TrimSuffix(base.Path, "/"), may: may}
	})
	hc, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	kept := *hc
	kept.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &kept, nil
}

// NamePattern matches the name of an object in a path.
const NamePattern = `[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?`

var (
	tokenPath   = regexp.MustCompile(`^/api/v1/namespaces/` + NamePattern + `/serviceaccounts/plumbline-(reader|log-reader|repairer)/token$`)
	agentPath   = regexp.MustCompile(`^/api/v1/namespaces/(?P<namespace>` + NamePattern + `)/pods/https:(?P<pod>` + NamePattern + `):(?P<port>` + AgentPorts + `)/proxy(?P<path>/.*)$`)
	forwardPath = regexp.MustCompile(`^/api/v1/namespaces/` + NamePattern + `/pods/` + NamePattern + `/portforward$`)
	intoPath    = regexp.MustCompile(`^/api/v1/(namespaces/[^/]+/)?(pods|services|nodes)/[^/]+/(exec|attach|portforward|proxy)(/|$)`)
	namePassed  = regexp.MustCompile(`^` + NamePattern + `$`)
)

// MayRead admits reads, and the request for a token of one of Plumbline's own accounts,
// which creates nothing that lasts. A GET to a proxy of a pod or node is more than a read;
// only the path to an agent is admitted.
func MayRead(method, path string) bool {
	switch method {
	case http.MethodGet:
		return !intoPath.MatchString(path) || agentPath.MatchString(path)
	case http.MethodPost:
		return tokenPath.MatchString(path)
	default:
		return false
	}
}

// mayRead is MayRead, and admits the request for a token of one more account.
func (o *Options) mayRead() func(method, path string) bool {
	ns, name, ok := strings.Cut(o.Account, "/")
	if !ok || CheckNames(ns, name) != nil {
		return MayRead
	}
	own := "/api/v1/namespaces/" + ns + "/serviceaccounts/" + name + "/token"
	return func(method, path string) bool {
		return MayRead(method, path) || method == http.MethodPost && path == own
	}
}

// CheckNames refuses what is not the name of an object: paths are built from it.
func CheckNames(names ...string) error {
	for _, n := range names {
		if !namePassed.MatchString(n) {
			return fmt.Errorf("%.80q is not a name", n)
		}
	}
	return nil
}
