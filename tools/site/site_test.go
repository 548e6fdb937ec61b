package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// The site of this repository can be made, and every link of it leads somewhere.
func TestSite(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := run("../..", out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(out + "/docs/codes/PL1001.html")
	if err != nil || !strings.Contains(string(page), `aria-current="page"`) || !strings.Contains(string(page), `<h2 id="impact">`) {
		t.Errorf("%v\n%s", err, page)
	}
}

func TestWrongSites(t *testing.T) {
	t.Parallel()
	good := func() fstest.MapFS {
		tree := fstest.MapFS{"internal/page/style.css": {}, "internal/web/static/icon.svg": {}}
		for _, s := range nav {
			for _, p := range s.Pages {
				if !strings.HasSuffix(p, "/") {
					tree[p] = &fstest.MapFile{Data: []byte("# " + p + "\n\n## Part\n")}
				}
			}
		}
		return tree
	}
	for want, change := range map[string]func(fstest.MapFS){
		"":                          func(f fstest.MapFS) { f["docs/faq.md"].Data = []byte("[a](" + repository + "docs/check.md#part)") },
		"in no section":             func(f fstest.MapFS) { f["docs/new.md"] = &fstest.MapFile{} },
		"docs/faq.md":               func(f fstest.MapFS) { delete(f, "docs/faq.md") },
		"which is not on the site":  func(f fstest.MapFS) { f["docs/faq.md"].Data = []byte("[a](none.md)") },
		"a part that is not there":  func(f fstest.MapFS) { f["docs/faq.md"].Data = []byte("[a](check.md#none)") },
		"does not list":             func(f fstest.MapFS) { f["docs/faq.md"].Data = []byte("[a](https://example.com/#a)") },
		"is not in the repository":  func(f fstest.MapFS) { f["docs/faq.md"].Data = []byte("[a](" + repository + "none.go)") },
		"links to ../docs/none.png": func(f fstest.MapFS) { f["docs/faq.md"].Data = []byte("![a](none.png)") },
	} {
		tree := good()
		change(tree)
		s, err := load(tree)
		if err == nil {
			var files map[string][]byte
			if files, err = s.render(); err == nil {
				err = check(tree, files)
			}
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
