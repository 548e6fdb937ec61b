package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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
					look(t, ctx, s, base, filepath.Base(bundle), p, &slowest, limit)
					for _, e := range saw.problems(base) {
						t.Errorf("%s /%s: %s", s.name, p, e)
					}
				}
			}
			t.Logf("%d pages, first content of the slowest after %.0f ms", len(list), slowest)
			printed(t, ctx, base, list)
		})
	}
}

func look(t *testing.T, ctx context.Context, s screen, base, of, path string, slowest *float64, limit float64) {
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
	shoot(t, ctx, strings.TrimSuffix(of, ".tar.gz")+"-"+s.name+"-"+unsafe.ReplaceAllString(path, "_"))
}

// shoot keeps a picture of the page, if -out names a directory.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *out == "" {
		return
	}
	var png []byte
	do(t, ctx, chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(*out, name[:min(len(name), 120)]+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// printed: on paper there is what a page says, and nothing to click or to fill in.
func printed(t *testing.T, ctx context.Context, base string, list []string) {
	t.Helper()
	screens[0].set(t, ctx)
	do(t, ctx, emulation.SetDeviceMetricsOverride(794, 1123, 1, false), emulation.SetEmulatedMedia().WithMedia("print")) // A4
	for _, p := range list {
		do(t, ctx, chromedp.Navigate(base+p), chromedp.WaitReady("#main"))
		left := eval[[]string](t, ctx, `[...document.querySelectorAll("nav, form, dialog, button")].filter(e => e.getClientRects().length).map(e => e.outerHTML.slice(0, 60))`)
		words := eval[int](t, ctx, `document.getElementById("main").innerText.length`)
		if wide := eval[int](t, ctx, `document.documentElement.scrollWidth`); len(left) > 0 || words < 20 || wide > 794 {
			t.Errorf("/%s printed: %q is shown, %d letters, %d wide", p, left, words, wide)
		}
	}
	do(t, ctx, emulation.SetEmulatedMedia())
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

// arrives waits until another page is there.
func arrives(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	at := ""
	for range 50 {
		if do(t, ctx, chromedp.Location(&at)); at == address {
			do(t, ctx, chromedp.WaitVisible("#main"))
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("at %s, want %s", at, address)
}

// The keys of pages, and Tab: what has the focus is marked, and nothing takes it twice before all others had it.
func TestTab(t *testing.T) {
	ctx, _ := tab(t)
	base := enter(t, ctx, ui(t, filepath.Join(*bundles, "route.tar.gz")))
	for key, page := range map[string]string{"o": "", "f": "findings", "i": "map", "n": "nodes"} {
		do(t, ctx, chromedp.Navigate(base+"code"), chromedp.Poll(`document.readyState === "complete"`, nil), chromedp.KeyEvent(key))
		arrives(t, ctx, base+page)
	}
	for _, p := range paths(t, ctx, base) {
		do(t, ctx, chromedp.Navigate(base+p), chromedp.WaitVisible("#main"))
		want := eval[int](t, ctx, `[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(e => e.getClientRects().length && e.tabIndex >= 0 && e.checkVisibility()).length`)
		had := 0
		for range min(want, 40) {
			do(t, ctx, chromedp.KeyEvent("\t"))
			if eval[bool](t, ctx, `(() => { const e = document.activeElement; if (e === document.body || e.dataset.had) return false; e.dataset.had = "1"; const s = getComputedStyle(e); return s.outlineStyle !== "none" && s.outlineWidth !== "0px"; })()`) {
				had++
			}
		}
		if had < min(want, 40) {
			t.Errorf("/%s: %d of %d had the focus, each once and marked", p, had, min(want, 40))
		}
	}
}

// The map by keys: it moves, zooms, and goes to an address.
func TestMapByKeys(t *testing.T) {
	ctx, saw := tab(t)
	base := enter(t, ctx, ui(t, filepath.Join(*bundles, "ipam.tar.gz")))
	do(t, ctx, chromedp.Navigate(base+"map"), chromedp.Poll(`Number(document.querySelector("canvas").dataset.frames) > 0`, nil), chromedp.Focus("canvas"))
	for _, key := range []string{"+", "-", "0", kb.ArrowLeft, kb.ArrowRight, kb.ArrowUp, kb.ArrowDown} {
		frames := eval[int](t, ctx, `Number(document.querySelector("canvas").dataset.frames)`)
		do(t, ctx, chromedp.KeyEvent(key), chromedp.Poll(fmt.Sprintf(`Number(document.querySelector("canvas").dataset.frames) > %d`, frames), nil))
	}
	pod := eval[string](t, ctx, `fetch("map.json?pod=web").then(r => r.json()).then(a => a.ip || a.says)`)
	do(t, ctx, chromedp.SendKeys("#goto", "shop/web\r"), chromedp.Poll(fmt.Sprintf(`document.getElementById("at").textContent.startsWith(%q)`, pod+" of shop/web"), nil))
	do(t, ctx, chromedp.Focus("canvas"), chromedp.KeyEvent("\r"))
	arrives(t, ctx, base+"address?ip="+pod)
	for _, e := range saw.problems(base) {
		t.Error(e)
	}
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
			look(t, ctx, s, base, "lab", p, &slowest, 1000)
			for _, e := range saw.problems(base) {
				t.Errorf("%s /%s: %s", s.name, p, e)
			}
		}
	}
	t.Logf("%d pages, first content of the slowest after %.0f ms: %q", len(list), slowest, list)
}
