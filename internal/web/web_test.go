package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
	"plumbline.dev/plumbline/internal/web"
)

// judged is the judgement of one of the small clusters that detectors are tested by.
func judged(t *testing.T, file string, edit func(*model.Snapshot)) *audit.Report {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := snapshotio.ParseText(text, "findings", "skipped")
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if edit != nil {
		edit(c.Snapshot)
	}
	return audit.Judge(context.Background(), c.Snapshot, audit.Source{}, audit.Options{Detectors: detect.All})
}

func siteOf(r *audit.Report) *web.Site {
	s := web.NewState()
	s.Put(r)
	return &web.Site{State: s, Program: "plumbline", Where: "test"}
}

func get(t *testing.T, h http.Handler, path string) (int, string, http.Header) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body), w.Header()
}

// pages are the addresses of all that a report has a page for.
func pages(r *audit.Report) []string {
	out := []string{"/", "/findings", "/findings?state=suppressed&severity=error&code=PL1001&node=n1&q=a+b&page=3", "/nodes", "/map", "/map.json", "/code", "/code?name=PL2001", "/find?q=o", "/static/style.css", "/static/ui.js"}
	at := func(path, name, value string) { out = append(out, path+"?"+url.Values{name: {value}}.Encode()) }
	s := r.View.Snapshot()
	for i := range s.Pods {
		at("/pod", "name", s.Pods[i].Namespace+"/"+s.Pods[i].Name)
		at("/map.json", "pod", s.Pods[i].Namespace+"/"+s.Pods[i].Name)
		for _, ip := range s.Pods[i].IPs {
			at("/address", "ip", ip.String())
			at("/map.json", "ip", ip.String())
		}
	}
	for i := range s.Nodes {
		at("/node", "name", s.Nodes[i].Name)
	}
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed, r.Suppressed, r.Folded} {
		for i := range fs {
			at("/finding", "name", fs[i].Key())
		}
	}
	return out
}

func worlds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../detect/testdata/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d worlds: %v", len(files), err)
	}
	return files
}

const hostile = "</td><script>alert(1)</script>\x1b[31m\u202e\"'&"

// Every page of every small cluster is there, and what strangers wrote is shown as text.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, file := range worlds(t) {
		r := judged(t, file, func(s *model.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].Name += hostile
			}
			for _, n := range s.NodeState {
				for i := range n.Mounts {
					n.Mounts[i].Source += hostile
				}
				for i := range n.Processes {
					n.Processes[i].Name += hostile
				}
				for i := range n.Runtimes {
					n.Runtimes[i].Error += hostile
				}
			}
			for i := range s.Pools {
				s.Pools[i].Name += hostile
			}
		})
		h := siteOf(r).Handler()
		for _, path := range pages(r) {
			code, body, head := get(t, h, path)
			if code != http.StatusOK {
				t.Errorf("%s %s: %d %s", file, path, code, body)
			}
			if strings.HasPrefix(path, "/static/") {
				continue
			}
			for _, bad := range []string{"<script>", "\x1b", "\u202e", " style=", " onclick="} {
				if strings.Contains(body, bad) {
					t.Errorf("%s %s: %q is in the page", file, path, bad)
				}
			}
			if !strings.HasPrefix(head.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'; script-src 'self';") {
				t.Errorf("%s: policy %q", path, head.Get("Content-Security-Policy"))
			}
		}
	}
}

// What is not there is said, with its status.
func TestNotThere(t *testing.T) {
	t.Parallel()
	h := siteOf(judged(t, "../detect/testdata/PL2001.txtar", nil)).Handler()
	for _, path := range []string{"/finding?name=PL1001/none", "/pod?name=a/b", "/node?name=x", "/address?ip=y", "/code?name=PL0000", "/nothing", "/static/", "/templates/frame.html"} {
		if code, body, _ := get(t, h, path); code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	empty := (&web.Site{State: web.NewState(), Live: true}).Handler()
	if code, body, _ := get(t, empty, "/findings"); code != http.StatusOK || !strings.Contains(body, "Reading the cluster") {
		t.Errorf("before the first judgement: %d %s", code, body)
	}
	if code, _, _ := get(t, empty, "/map.json"); code != http.StatusServiceUnavailable {
		t.Errorf("map before the first judgement: %d", code)
	}
}

// How many findings match a text does not tell what those that are not shown say.
func TestFilterTellsNothing(t *testing.T) {
	t.Parallel()
	h := siteOf(judged(t, "../detect/testdata/PL2001.txtar", nil)).Handler()
	none := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, web.WithRights(r, func(string) bool { return false }))
	})
	ask := func(q string) string {
		_, body, _ := get(t, none, "/findings?q="+q)
		_, list, _ := strings.Cut(body, `<div id="list">`)
		return list
	}
	if ask("web") != ask("wex") {
		t.Errorf("%s\n%s", ask("web"), ask("wex"))
	}
	for _, pod := range []string{"web", "shop/web"} { // the map does not say where a pod is
		_, shown, _ := get(t, h, "/map.json?pod="+pod)
		if _, body, _ := get(t, none, "/map.json?pod="+pod); !strings.Contains(shown, `"ip"`) || strings.Contains(body, `"ip"`) {
			t.Errorf("%s: %s to who sees all, %s to who sees nothing", pod, shown, body)
		}
	}
}

// Old handles are named NAMESPACE.POD.
func TestOldHandlesAreHidden(t *testing.T) {
	t.Parallel()
	h := siteOf(judged(t, "../detect/testdata/PL1006.txtar", func(s *model.Snapshot) {
		s.Handles = append(s.Handles, model.Handle{ID: "shop.secret-0", Name: "shop.secret-0", Written: 1})
	})).Handler()
	some := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, web.WithRights(r, func(ns string) bool { return ns != "shop" }))
	})
	_, all, _ := get(t, h, "/findings")
	_, body, _ := get(t, some, "/findings")
	if !strings.Contains(all, "secret-0") || strings.Contains(body, "secret-0") {
		t.Errorf("who may see all: %t; who may not list the namespace: %t", strings.Contains(all, "secret-0"), strings.Contains(body, "secret-0"))
	}
}

// Somebody who may not list the pods of a namespace reads nothing of them, on any page.
func TestRights(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, file := range worlds(t) {
		// Half of the pods of each namespace are moved to another one, so that findings and records name both; a name
		// that is only left in IPAM counts too.
		names := map[string][]string{}
		r := judged(t, file, func(s *model.Snapshot) {
			for i := range s.Pods {
				if i%2 == 1 {
					s.Pods[i].Namespace = "other"
				}
				names[s.Pods[i].Namespace] = append(names[s.Pods[i].Namespace], s.Pods[i].Namespace+"/"+s.Pods[i].Name)
			}
			for i := range s.Blocks {
				for k := range s.Blocks[i].Attributes {
					if a := &s.Blocks[i].Attributes[k]; a.Pod != "" {
						names[a.Namespace] = append(names[a.Namespace], a.Namespace+"/"+a.Pod)
					}
				}
			}
		})
		h := siteOf(r).Handler()
		for secret, hidden := range names {
			may := func(ns string) bool { return ns != secret }
			some := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { h.ServeHTTP(w, web.WithRights(req, may)) })
			for _, path := range pages(r) {
				if strings.Contains(path, url.QueryEscape(secret+"/")) {
					continue // the answer names what was asked for
				}
				_, body, _ := get(t, some, path)
				for _, name := range hidden {
					if strings.Contains(body, name) {
						t.Errorf("%s %s: shows %s", file, path, name)
					}
				}
				shown++
			}
		}
	}
	if shown < 1000 {
		t.Errorf("%d pages asked for", shown)
	}
}

// A namespace is hidden wherever it is named: also if only a handle that is left over names it, and in what programs
// wrote in their own ways. A pod of that name elsewhere is not.
func TestNamespacesAreHiddenAsWords(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL1006.txtar", func(s *model.Snapshot) {
		for _, id := range []string{"secret.db-0", "k8s-pod-network.vmi.hush.vm-0"} {
			s.Handles = append(s.Handles, model.Handle{ID: id, Name: id, Written: 1})
		}
		s.NodeState = map[string]*model.NodeState{"n1": {Runtimes: []model.Runtime{{Node: "n1", Error: "unseen k8s_db-0_secret"}}}}
	})
	key := func(name string) model.Ref { return model.Ref{Kind: model.KindBlock, Name: name} }
	for i, text := range []string{"sandbox hush_db-0", "used by StatefulSet/db of secret", `pod "db-0_secret" network`, "secret/db-0"} {
		r.Findings = append(r.Findings, finding.Finding{Code: finding.PL1011, Severity: finding.Error, State: finding.Confirmed, Subject: key("unseen-" + strconv.Itoa(i)), Summary: text})
	}
	r.Findings = append(r.Findings,
		finding.Finding{Code: finding.PL4006, State: finding.Confirmed, Subject: model.Ref{Kind: model.KindSandbox, Name: "n1/unseen"}, Summary: "DEL of nobody"},
		finding.Finding{Code: finding.PL1011, State: finding.Confirmed, Subject: key("plain"), Summary: "shop/secret, secretly, no-secret-0"})
	h := siteOf(r).Handler()
	some := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, web.WithRights(r, func(ns string) bool { return ns != "secret" && ns != "hush" }))
	})
	_, ofAll, _ := get(t, h, "/node?name=n1")
	if _, body, _ := get(t, some, "/node?name=n1"); !strings.Contains(ofAll, "unseen") || strings.Contains(body, "unseen") {
		t.Error("an error of the runtime names a pod to who may not list it, or to nobody")
	}
	_, all, _ := get(t, h, "/findings")
	_, body, _ := get(t, some, "/findings")
	for _, name := range []string{"secret.db-0", "hush.vm-0", "unseen"} {
		if !strings.Contains(all, name) || strings.Contains(body, name) {
			t.Errorf("%s: who may see all: %t; who may not list the namespace: %t", name, strings.Contains(all, name), strings.Contains(body, name))
		}
	}
	if !strings.Contains(body, "PL1011/plain") {
		t.Error("a pod of that name in another namespace is hidden")
	}
}
