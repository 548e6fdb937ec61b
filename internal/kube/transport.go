package kube

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"k8s.io/client-go/rest"
)

// A guarded transport sends what it may and nothing else: no bug of ours can write.
type guarded struct {
	http.RoundTripper
	prefix string // of the API server's own paths, where it stands behind another
	may    func(method, path string) bool
}

func (g guarded) RoundTrip(q *http.Request) (*http.Response, error) {
	path, ours := strings.CutPrefix(q.URL.Path, g.prefix)
	escaped := q.Method != http.MethodGet && q.URL.RawPath != "" // it would be read in two ways
	if !ours || escaped || !g.may(q.Method, path) {
		return nil, fmt.Errorf("%s %s: not on this client's list", q.Method, q.URL.Path)
	}
	return g.RoundTripper.RoundTrip(q)
}

// through makes a client whose requests are all guarded. It follows nobody elsewhere: the
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

const dnsName = `[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?`

var (
	tokenPath  = regexp.MustCompile(`^/api/v1/namespaces/` + dnsName + `/serviceaccounts/plumbline-(reader|repairer)/token$`)
	podsPath   = regexp.MustCompile(`^/api/v1/namespaces/` + dnsName + `/pods$`)
	probePath  = regexp.MustCompile(`^/api/v1/namespaces/` + dnsName + `/pods/` + probePrefix + `[a-z0-9]{1,20}$`)
	agentPath  = regexp.MustCompile(`^/api/v1/namespaces/` + dnsName + `/pods/https:` + dnsName + `:9474/proxy/`)
	intoPath   = regexp.MustCompile(`^/api/v1/(namespaces/[^/]+/)?(pods|services|nodes)/[^/]+/(exec|attach|portforward|proxy)(/|$)`)
	namePassed = regexp.MustCompile(`^` + dnsName + `$`)
)

// mayRead lets reads through, and the question for a token of one of Plumbline's own
// accounts: it makes nothing that lasts. A GET that leads into a pod or a node is no mere
// read; only the way to an agent is open.
func mayRead(method, path string) bool {
	switch method {
	case http.MethodGet:
		return !intoPath.MatchString(path) || agentPath.MatchString(path)
	case http.MethodPost:
		return tokenPath.MatchString(path)
	default:
		return false
	}
}

// mayProbe lets a pod be made, and a probe be deleted.
func mayProbe(method, path string) bool {
	return method == http.MethodPost && podsPath.MatchString(path) || method == http.MethodDelete && probePath.MatchString(path)
}

// named refuses what is not the name of an object: a path is put together from it.
func named(names ...string) error {
	for _, n := range names {
		if !namePassed.MatchString(n) {
			return fmt.Errorf("%.80q is not a name", n)
		}
	}
	return nil
}
