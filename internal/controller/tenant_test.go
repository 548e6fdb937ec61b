package controller

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/snapshotio"
	"plumbline.dev/plumbline/internal/web"
)

// A reviewer is an API server that knows one account, which may get some resources of our group.
type reviewer []string

func (reviewer) Genuine(context.Context, string) (bool, error) { return true, nil }
func (reviewer) Authenticate(context.Context, string, string) (any, bool, error) {
	return "system:serviceaccount:other:viewer", true, nil
}

func (r reviewer) Authorize(_ context.Context, _ any, verb, group, resource, _, _ string) (bool, error) {
	return verb == "get" && group == "plumbline.dev" && slices.Contains(r, resource), nil
}

// asked is what the controller answers an account on every path that it has, as its routers say, with
// parameters that name pods, nodes and addresses of another namespace.
func asked(t *testing.T, s *rows, ui *pages, may reviewer) map[string]string {
	t.Helper()
	me := agent.NewCaller()
	claims := fmt.Appendf(nil, `{"aud":[%q],"exp":%d}`, me.Audience(), time.Now().Add(time.Hour).Unix()) //nolint:forbidigo // the end of a token
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims) + ".x"
	out := map[string]string{}
	ask := func(path string, query url.Values) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+path+"?"+query.Encode(), nil)
		r.Header = me.Headers(token, agent.Controller, http.MethodGet, path, query, nil)
		w := httptest.NewRecorder()
		s.handler(may, ui, time.Now).ServeHTTP(w, r) //nolint:forbidigo // how long answers are kept
		b, _ := io.ReadAll(w.Body)
		out[path+"?"+query.Encode()] = fmt.Sprint(w.Code, " ", string(b))
	}
	for pattern := range s.routes(ui) {
		path := strings.TrimPrefix(pattern, "GET /")
		if path != agent.PathUI {
			ask(path, nil)
			continue
		}
		for _, page := range web.Paths() {
			if page == "/live" {
				continue // it lasts, and sends that something changed
			}
			for _, q := range []url.Values{
				nil, {"name": {"PL2001/shop/web"}}, {"name": {"shop/web"}}, {"name": {"n1"}}, {"q": {"web"}}, {"ip": {"10.0.0.11"}}, {"code": {"PL2001"}}, {"name": {"PL2001"}}, {"node": {"n1"}},
			} {
				ask(strings.TrimSuffix(path, "/")+page, q)
			}
		}
	}
	return out
}

// A viewer of one namespace asks every path that there is, and sees no pod of another one.
func TestLimitedViewerAsksEveryPath(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../detect/testdata/PL2001.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c, err := snapshotio.ParseText(text, "findings", "skipped")
	if err != nil {
		t.Fatal(err)
	}
	r := audit.Judge(t.Context(), c.Snapshot, audit.Source{}, audit.Options{Detectors: detect.All})
	s := newRows()
	s.take(cluster.Pass{Report: r}, nil)
	site := func(all bool) *pages {
		ui := newPages(func(_ context.Context, _ any, ns string) (bool, error) { return all || ns == "other", nil })
		ui.state.Put(r)
		return ui
	}
	var pods []string
	for i := range c.Snapshot.Pods {
		if p := &c.Snapshot.Pods[i]; p.Namespace != "other" {
			pods = append(pods, p.Namespace+"/"+p.Name)
		}
	}
	if len(pods) < 3 {
		t.Fatalf("the fixture has %q", pods)
	}
	names := func(answers map[string]string) (n int) {
		for path, answer := range answers {
			query, _ := url.QueryUnescape(path)
			for _, pod := range pods {
				if strings.Contains(answer, pod) && !strings.Contains(query, pod) { // the answer names what was asked for
					n++
				}
			}
		}
		return n
	}
	for name, may := range map[string]reviewer{"pages": {"pages"}, "findings as objects": {"findings"}, "nothing": nil, "both": {"pages", "findings"}} {
		answers := asked(t, s, site(false), may)
		if n := names(answers); n > 0 {
			for path, answer := range answers {
				t.Logf("%s: %.300s", path, answer)
			}
			t.Errorf("%s: %d names of pods of other namespaces", name, n)
		}
		if len(answers) < 50 {
			t.Errorf("%d answers", len(answers))
		}
	}
	if n := names(asked(t, s, site(true), reviewer{"pages", "nodestates"})); n < 10 {
		t.Errorf("who may see all sees %d names", n)
	}
}
