package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// all are the bundles to look at.
func all(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*bundles, "*.tar.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundles in %s: %v", *bundles, err)
	}
	return files
}

var unsafe = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// Every kind of page, wide and narrow, light and dark: nothing is reported, nothing is asked of anybody else, nothing is
// wider than the screen, axe finds no serious fault, and content comes soon.
func TestPages(t *testing.T) {
	limits := map[string]float64{}
	for _, b := range all(t) {
		limits[b] = 1000
	}
	if *large != "" {
		limits[*large] = 3000
	}
	for bundle, limit := range limits {
		t.Run(filepath.Base(bundle), func(t *testing.T) {
			ctx, saw := tab(t)
			base := enter(t, ctx, ui(t, bundle))
			list := paths(t, ctx, base)
			slices.Sort(list)
			if len(list) < 7 {
				t.Errorf("only %q", list)
			}
			slowest := 0.0
			for _, s := range screens {
				s.set(t, ctx)
				for _, p := range list {
					saw.problems(base)
					look(t, ctx, s, base, p, &slowest, limit)
					for _, e := range saw.problems(base) {
						t.Errorf("%s /%s: %s", s.name, p, e)
					}
				}
			}
			t.Logf("%d pages, first content of the slowest after %.0f ms", len(list), slowest)
		})
	}
}

func look(t *testing.T, ctx context.Context, s screen, base, path string, slowest *float64, limit float64) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(base+path), chromedp.WaitVisible("#main"))
	ms := eval[float64](t, ctx, `new Promise(done => { const at = () => performance.getEntriesByName("first-contentful-paint")[0]; if (at()) done(at().startTime); else new PerformanceObserver(l => { if (at()) done(at().startTime) }).observe({type: "paint", buffered: true}); setTimeout(() => done(-1), 5000) })`)
	*slowest = max(*slowest, ms)
	if ms < 0 || ms > limit {
		t.Errorf("%s /%s: first content after %.0f ms", s.name, path, ms)
	}
	if w := eval[int64](t, ctx, `document.documentElement.scrollWidth`); w > s.width {
		t.Errorf("%s /%s: %d wide", s.name, path, w)
	}
	for _, f := range serious(t, ctx) {
		t.Errorf("%s /%s: axe: %s", s.name, path, f)
	}
	if *out != "" {
		var png []byte
		do(t, ctx, chromedp.FullScreenshot(&png, 100))
		if err := os.WriteFile(filepath.Join(*out, s.name+"-"+unsafe.ReplaceAllString(path, "_")+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The keys: find, rows, pages, help.
func TestKeyboard(t *testing.T) {
	ctx, _ := tab(t)
	base := enter(t, ctx, ui(t, filepath.Join(*bundles, "route.tar.gz")))
	focused := func() string {
		return eval[string](t, ctx, `(document.activeElement.id || document.activeElement.getAttribute("href") || document.activeElement.tagName)`)
	}
	do(t, ctx, chromedp.KeyEvent("f"), chromedp.WaitVisible("#list"))
	do(t, ctx, chromedp.KeyEvent("j"))
	first := focused()
	do(t, ctx, chromedp.KeyEvent("j"))
	second := focused()
	do(t, ctx, chromedp.KeyEvent("k"))
	if first == second || focused() != first {
		t.Errorf("j went to %s and %s, k to %s", first, second, focused())
	}
	do(t, ctx, chromedp.KeyEvent("\r"), chromedp.WaitVisible("h1"), chromedp.WaitVisible(".commands"))
	do(t, ctx, chromedp.KeyEvent("?"))
	if !eval[bool](t, ctx, `document.getElementById("keys").open`) {
		t.Error("? shows no keys")
	}
	do(t, ctx, chromedp.Navigate(base), chromedp.WaitVisible("#main"), chromedp.KeyEvent("/"))
	if focused() != "find" {
		t.Errorf("/ went to %s", focused())
	}
	eval[string](t, ctx, `document.getElementById("find").value = ""`)
	do(t, ctx, chromedp.SendKeys("#find", "PL1001\r"), chromedp.WaitVisible("article.text")) // the driver types / although the page refuses it
}

// Without scripts everything can be read; and it can be printed.
func TestWithoutScriptsAndPrinted(t *testing.T) {
	ctx, _ := tab(t)
	base := enter(t, ctx, ui(t, all(t)[0]))
	do(t, ctx, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(base+"findings"), chromedp.WaitVisible("#list"))
	var pdf []byte
	do(t, ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if len(pdf) < 5000 {
		t.Errorf("printed %d bytes", len(pdf))
	}
}

// The filter narrows the list while somebody types, and the address follows.
func TestFilter(t *testing.T) {
	ctx, saw := tab(t)
	base := enter(t, ctx, ui(t, all(t)[0]))
	do(t, ctx, chromedp.Navigate(base+"findings"), chromedp.WaitVisible("#list"))
	before := eval[int](t, ctx, `document.querySelectorAll("#list tbody a.row").length`)
	do(t, ctx, chromedp.SendKeys(`.filter input[name=q]`, "no finding has this text"))
	do(t, ctx, chromedp.Poll(`document.querySelectorAll("#list tbody a.row").length === 0 && location.search.includes("q=no")`, nil))
	if before == 0 {
		t.Error("there was nothing to filter")
	}
	for _, e := range saw.problems(base) {
		t.Error(e)
	}
}

// Every page of a UI that runs already, which follows a cluster.
func TestURL(t *testing.T) {
	if *address == "" {
		t.Skip("-url names none") // make ui looks at bundles
	}
	ctx, saw := tab(t)
	base := enter(t, ctx, *address)
	do(t, ctx, chromedp.Poll(`!!document.getElementById("state") && !document.querySelector("h1").textContent.startsWith("Reading")`, nil))
	list := paths(t, ctx, base)
	slices.Sort(list)
	slowest := 0.0
	for _, s := range screens {
		s.set(t, ctx)
		for _, p := range list {
			saw.problems(base)
			look(t, ctx, s, base, p, &slowest, 1000)
			for _, e := range saw.problems(base) {
				t.Errorf("%s /%s: %s", s.name, p, e)
			}
		}
	}
	t.Logf("%d pages, first content of the slowest after %.0f ms: %q", len(list), slowest, list)
}
