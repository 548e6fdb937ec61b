package web_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A page that is open is told of the next judgement, and sees on the overview what came and went.
func TestLive(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL2001.txtar", nil)
	site := siteOf(r)
	srv := httptest.NewServer(site.Handler())
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	told := make(chan string, 10)
	go func() {
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if n, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				told <- n
			}
		}
	}()
	wait := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			if got != want {
				t.Errorf("told of judgement %s, want %s", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("told of nothing")
		}
	}
	wait("1")
	next := *r
	next.Taken = r.Taken.Add(time.Minute)
	next.Findings = append([]finding.Finding{}, r.Findings...)
	gone := next.Findings[0]
	next.Findings[0].Subject.Name += "-new"
	site.State.Put(&next)
	wait("2")
	_, body, _ := get(t, site.Handler(), "/")
	if !strings.Contains(body, "<s>"+gone.Key()+"</s>") || !strings.Contains(body, gone.Key()+"-new</a>") {
		t.Errorf("what came and went is not shown:\n%s", body)
	}
}

// Gone is only what was looked for and is in no list; it comes again only after that, and what went does not hide what
// came.
func TestGone(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL2001.txtar", nil)
	site := siteOf(r)
	all, now := r.Findings, *r
	put := func(edit func(*audit.Report)) string {
		next := now
		next.Taken = now.Taken.Add(time.Minute)
		next.Findings, next.Unconfirmed, next.Folded, next.Suppressed, next.Skipped = nil, nil, nil, nil, nil
		edit(&next)
		now = next
		site.State.Put(&next)
		_, body, _ := get(t, site.Handler(), "/")
		return body
	}
	var skips []detect.Skip
	for i := range all {
		skips = append(skips, detect.Skip{Code: all[i].Code, Nodes: []string{all[i].Node}})
	}
	for name, edit := range map[string]func(*audit.Report){
		"folded": func(r *audit.Report) { r.Folded = all }, "suppressed": func(r *audit.Report) { r.Suppressed = all },
		"unconfirmed": func(r *audit.Report) { r.Unconfirmed = all }, "not judged": func(r *audit.Report) { r.Skipped = skips },
	} {
		put(func(r *audit.Report) { r.Findings = all })
		if body := put(edit); strings.Contains(body, `<li class="`) {
			t.Errorf("%s: called gone, or come", name)
		}
	}
	put(func(r *audit.Report) { r.Findings = all })
	came := all[0]
	came.Subject.Name += "-new"
	body := put(func(r *audit.Report) {
		for i := range 40 {
			f := all[0]
			f.Subject.Name += strconv.Itoa(i)
			r.Findings = append(r.Findings, f)
		}
	})
	if !strings.Contains(body, "<s>"+all[0].Key()+"</s>") {
		t.Error("what is gone is not shown")
	}
	if body = put(func(r *audit.Report) { r.Findings = []finding.Finding{came} }); !strings.Contains(body, came.Key()+"</a></li>") || strings.Count(body, "<s>") != 12 {
		t.Errorf("what came is not shown, or %d that went", strings.Count(body, "<s>"))
	}
}

// A pool that fills is told of, once enough was seen.
func TestForecast(t *testing.T) {
	t.Parallel()
	r := judged(t, "../detect/testdata/PL1001.txtar", nil)
	site := siteOf(r)
	grow := func(s *model.Snapshot, n int) {
		for i := range s.Blocks {
			b := &s.Blocks[i]
			for range min(n, len(b.Free)) {
				b.Held = append(b.Held, model.Slot{b.Free[0], 0})
				b.Free = b.Free[1:]
			}
		}
	}
	for i := range 12 {
		next := judged(t, "../detect/testdata/PL1001.txtar", func(s *model.Snapshot) { grow(s, i/4) })
		next.Taken = r.Taken.Add(time.Duration(i+1) * 10 * time.Minute)
		site.State.Put(next)
	}
	if _, body, _ := get(t, site.Handler(), "/"); !strings.Contains(body, "no address left in ") {
		t.Errorf("no forecast:\n%s", body)
	}
}
