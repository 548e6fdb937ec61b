package browser_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The single files that commands write open from a directory, as somebody would who was sent one.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	demo := exec.CommandContext(t.Context(), *program, "demo")
	demo.Dir = dir
	if out, err := demo.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bundle := filepath.Join(*bundles, "demo.tar.gz")
	for name, args := range map[string][]string{
		"check.html":    {"check", "--bundle", bundle},
		"explain.html":  {"explain", "pod", "etcd1-0", "-n", "late-del", "--bundle", bundle},
		"timeline.html": {"timeline", "pod", "etcd1-0", "-n", "late-del", "--logs", filepath.Join(dir, "plumbline-demo", "logs")},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := exec.CommandContext(t.Context(), *program, append(args, "-o", "html")...).Output()
			if len(page) == 0 {
				t.Fatalf("%q: %v", args, err) // with findings the exit code is 1
			}
			if err := os.WriteFile(filepath.Join(dir, name), page, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, saw := tab(t)
			base := "file://" + dir + "/"
			for _, s := range screens {
				s.set(t, ctx)
				do(t, ctx, chromedp.Navigate(base+name), chromedp.Poll(`document.readyState === "complete"`, nil))
				if words := eval[int](t, ctx, `document.body.innerText.length`); words < 100 {
					t.Errorf("%d letters", words)
				}
				if w := eval[int64](t, ctx, `document.documentElement.scrollWidth`); w > s.width && s.width > 500 {
					t.Errorf("%s: %d wide", s.name, w)
				}
				for _, f := range serious(t, ctx) {
					t.Errorf("%s: axe: %s", s.name, f)
				}
				shoot(t, ctx, strings.TrimSuffix(name, ".html")+"-"+s.name)
			}
			for _, e := range saw.problems(base + "x/") {
				t.Error(e)
			}
		})
	}
}

// The documentation site, page by page.
func TestSite(t *testing.T) {
	if *site == "" {
		t.Fatal("-site names no directory: make site")
	}
	var pages []string
	err := filepath.WalkDir(*site, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".html") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil || len(pages) < 50 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(*site)))
	defer server.Close()
	ctx, saw := tab(t)
	for i, file := range pages {
		path, err := filepath.Rel(*site, file)
		if err != nil {
			t.Fatal(err)
		}
		looks := screens[i%2*3 : i%2*3+1] // each page once, wide and light or narrow and dark
		if i%10 == 0 {
			looks = screens
		}
		for _, s := range looks {
			s.set(t, ctx)
			do(t, ctx, chromedp.Navigate(server.URL+"/"+path), chromedp.WaitVisible("h1"))
			if w := eval[int64](t, ctx, `document.documentElement.scrollWidth`); w > s.width {
				t.Errorf("%s %s: %d wide", s.name, path, w)
			}
			for _, f := range serious(t, ctx) {
				t.Errorf("%s %s: axe: %s", s.name, path, f)
			}
			if i%10 == 0 {
				shoot(t, ctx, "site-"+s.name+"-"+unsafe.ReplaceAllString(path, "_"))
			}
		}
		for _, e := range saw.problems(server.URL + "/x/") {
			t.Errorf("%s: %s", path, e)
		}
	}
	t.Logf("%d pages", len(pages))
}
