package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/web"
)

// lost is a cluster of which a table was not read.
func lost(table model.Table) func(*model.Snapshot) {
	return func(s *model.Snapshot) {
		for i := range s.Coverage {
			if s.Coverage[i].Table == table {
				s.Coverage[i].State = model.Lost
			}
		}
	}
}

// What is folded or suppressed is listed as such, and what who asks may not see is counted.
func TestSections(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL2001.txtar", nil)
	pod := model.Ref{Kind: model.KindPod, Name: "shop/web"}
	of := func(name string) finding.Finding {
		return finding.Finding{Code: finding.PL2004, State: finding.Confirmed, Severity: finding.Error, Subject: model.Ref{Kind: model.KindPod, Name: name}, Namespace: "shop", About: []model.Ref{pod}}
	}
	r.Folded, r.Suppressed = []finding.Finding{of("shop/fold")}, []finding.Finding{of("shop/supp")}
	hidden := of("other/unseen")
	hidden.Namespace = "other"
	r.Findings = append(r.Findings, hidden)
	node := r.View.PodByName("shop", "web").Node
	h := siteOf(r).Handler()
	some := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, web.WithRights(r, func(ns string) bool { return ns == "shop" }))
	})
	for _, path := range []string{"/pod?name=shop/web", "/node?name=" + node} {
		_, body, _ := get(t, some, path)
		for _, want := range []string{"PL2004/shop/fold", "confirmed, folded", "PL2004/shop/supp", "confirmed, suppressed", "1 finding not shown"} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: %q is not in it", path, want)
			}
		}
	}
	_, body, _ := get(t, some, "/code?name=PL2004")
	for _, want := range []string{"no findings of this code", "1 folded under others", "1 suppressed", "1 finding not shown"} {
		if !strings.Contains(body, want) {
			t.Errorf("code: %q is not in it", want)
		}
	}
	for i := range 250 {
		r.Findings = append(r.Findings, of("shop/many-"+strconv.Itoa(i)))
	}
	_, body, _ = get(t, siteOf(r).Handler(), "/find?q=shop/web")
	if n := strings.Count(body, `href="finding?`); n > 120 || !strings.Contains(body, "pod?name=shop%2Fweb&amp;page=1") {
		t.Errorf("%d findings on one page", n)
	}
}

// A node is not green if a finding concerns a pod on it, also one that is folded, and not if its judgement lacks a source.
func TestNodesAreNotGreen(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL2001.txtar", nil)
	r.Findings, r.Unconfirmed, r.Suppressed, r.Skipped = nil, nil, nil, nil
	r.Folded = []finding.Finding{{Code: finding.PL2010, State: finding.Confirmed, Severity: finding.Error, Subject: model.Ref{Kind: model.KindAddress, Name: "10.0.0.1"}}}
	where := map[string]bool{}
	for i := range r.View.Rows(model.Pods) {
		p := r.View.Pod(int32(i))
		r.Folded[0].About = append(r.Folded[0].About, p.Ref())
		where[p.Node] = true
	}
	_, body, _ := get(t, siteOf(r).Handler(), "/nodes")
	if n := strings.Count(body, `class="error"`); n != len(where) || n == 0 {
		t.Errorf("%d nodes are red, pods are on %d", n, len(where))
	}
	_, body, _ = get(t, siteOf(judged(t, "../detect/testdata/PL3003.txtar", lost(model.Blocks))).Handler(), "/nodes")
	if strings.Contains(body, `class="good"`) || !strings.Contains(body, "Kubernetes or Calico not checked") {
		t.Errorf("blocks were not read:\n%s", body)
	}
}

// A node on which a code could not be evaluated is not green, whatever table it lacks.
func TestNodesWithUnevaluatedCodesAreNotGreen(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/truth/00-base-vxlan.txtar", nil)
	r.Findings, r.Unconfirmed, r.Suppressed, r.Folded, r.Skipped = nil, nil, nil, nil, nil
	name := r.View.Node(0).Name
	green := func() int {
		_, body, _ := get(t, siteOf(r).Handler(), "/nodes")
		return strings.Count(body, `class="good"`)
	}
	before := green()
	r.Skipped = []detect.Skip{{Code: finding.PL3008, Why: "firewall rules were not read on " + name, Nodes: []string{name}, OutOfScope: true, Unknown: true}}
	if after := green(); before == 0 || after != before-1 {
		t.Errorf("%d nodes are green, %d before", after, before)
	}
}

// That nothing was found is said of what was checked only, and so is that a finding is resolved.
func TestNothingOfWhatWasNotChecked(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL1001.txtar", lost(model.Blocks))
	r.Findings, r.Unconfirmed, r.Suppressed = nil, nil, nil
	h := siteOf(r).Handler()
	for path, want := range map[string]string{
		"/": "<h1>No findings in what was checked", "/code?name=PL1001": "no findings of this code in what was checked",
		"/finding?name=" + url.QueryEscape("PL1001/10.0.0.1"): "it was not checked this time",
	} {
		if _, body, _ := get(t, h, path); !strings.Contains(body, want) {
			t.Errorf("%s: %q is not in it", path, want)
		}
	}
}

// The page is not replaced by the error of a server that is busy or not there.
func TestErrorsAreNotSwapped(t *testing.T) {
	t.Parallel()
	_, body, _ := get(t, siteOf(judged(t, "../detect/testdata/PL2001.txtar", nil)).Handler(), "/")
	for _, want := range []string{`{"code":"...","swap":false,"error":true}]`, `<body data-serial="1"`, `<main id="main"`} { // what static/ui.js looks for
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// What is cut off, or was not made in time, is said.
func TestCutOff(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL2001.txtar", lost(model.Blocks))
	site := siteOf(r)
	site.Most = 2
	site.Changes = func(context.Context, string) ([]web.Change, error) { return make([]web.Change, 2), nil }
	site.Plan = func(ctx context.Context, _ *audit.Report, _ []finding.Finding) *repair.Plan {
		<-ctx.Done()
		return &repair.Plan{}
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
		defer cancel()
		site.Handler().ServeHTTP(w, r.WithContext(ctx))
	})
	for path, want := range map[string]string{
		"/events?node=" + r.View.Node(0).Name: "Only the newest 2 entries are shown", "/map": "blocks may be missing here",
		"/finding?name=" + url.QueryEscape(r.Findings[0].Key()): "No plan was made within 5 s",
	} {
		if _, body, _ := get(t, h, path); !strings.Contains(body, want) {
			t.Errorf("%s: %q is not in\n%s", path, want, body)
		}
	}
}

// A notice may name anything: who may not see all is told only that there is one.
func TestNotice(t *testing.T) {
	t.Parallel()
	site := siteOf(judged(t, "../detect/testdata/PL2001.txtar", nil))
	site.State.Notice("watch pods of hush: refused")
	h := site.Handler()
	some := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, web.WithRights(r, func(string) bool { return true }))
	})
	_, all, _ := get(t, h, "/")
	_, body, _ := get(t, some, "/")
	if !strings.Contains(all, "watch pods of hush") || strings.Contains(body, "hush") || !strings.Contains(body, "following was interrupted") {
		t.Errorf("who may see all: %s\nwho may not: %s", all, body)
	}
}
