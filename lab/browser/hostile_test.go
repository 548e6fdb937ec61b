package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A page of another origin in the same browser, in which the UI is open, can neither read it nor drive it; and a name that
// is bound to this machine does not open it.
func TestOtherOrigins(t *testing.T) {
	ctx, _ := tab(t)
	base := enter(t, ctx, ui(t, all(t)[0]))
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><h1 id=main>evil</h1>")
	}))
	defer evil.Close()
	do(t, ctx, chromedp.Navigate(evil.URL), chromedp.WaitVisible("#main"))
	for name, js := range map[string]string{
		"fetch":   `fetch(%q, {credentials: "include"}).then(r => r.text()).then(t => "read " + t.length).catch(e => "refused")`,
		"no-cors": `fetch(%q, {credentials: "include", mode: "no-cors"}).then(r => r.text()).then(t => t ? "read " + t.length : "refused").catch(e => "refused")`,
		"events":  `new Promise(d => { const s = new EventSource(%q + "live", {withCredentials: true}); s.onmessage = () => d("read"); s.onerror = () => d("refused"); s.onopen = () => d("read"); })`,
		"frame":   `new Promise(d => { const f = document.createElement("iframe"); f.onload = () => { try { d(f.contentDocument && f.contentDocument.body.textContent ? "read" : "refused") } catch { d("refused") } }; f.src = %q; document.body.append(f); })`,
		"script":  `new Promise(d => { const s = document.createElement("script"); s.onload = () => d("read"); s.onerror = () => d("refused"); s.src = %q + "map.json"; document.body.append(s); })`,
	} {
		if got := eval[string](t, ctx, fmt.Sprintf(js, base)); got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":") // with the path
	do(t, ctx, chromedp.Navigate("http://evil.example:"+port))
	if text := eval[string](t, ctx, `document.body.textContent`); !strings.Contains(text, "not for other sites") {
		t.Errorf("by another name: %s", text)
	}
	do(t, ctx, chromedp.Navigate(base), chromedp.WaitVisible("#main"))
	if text := eval[string](t, ctx, `document.querySelector("h1").textContent`); strings.Contains(text, "evil") {
		t.Errorf("the UI shows %s", text)
	}
}

// The map of 5,000 blocks is drawn smoothly while somebody zooms.
func TestMap(t *testing.T) {
	if *large == "" {
		t.Fatal("-large names no bundle")
	}
	ctx, saw := tab(t)
	base := enter(t, ctx, ui(t, *large))
	screens[0].set(t, ctx)
	do(t, ctx, chromedp.Navigate(base+"map"), chromedp.Poll(`Number(document.querySelector("canvas").dataset.frames) > 0`, nil))
	blocks := eval[string](t, ctx, `document.querySelector("canvas").dataset.blocks`)
	if n, err := strconv.Atoi(blocks); err != nil || n < 5000 {
		t.Fatalf("%q blocks", blocks)
	}
	slowest := eval[[]string](t, ctx, `new Promise(done => {
		const c = document.querySelector("canvas"); delete c.dataset.slowest; let n = 0, last = performance.now(), gap = 0;
		const step = () => {
			const now = performance.now(); gap = Math.max(gap, now - last); last = now;
			if (n++ === 120) { done([c.dataset.slowest, gap.toFixed(1)]); return; }
			c.dispatchEvent(new WheelEvent("wheel", {deltaY: n < 60 ? -60 : 60, clientX: 500, clientY: 400, bubbles: true, cancelable: true}));
			requestAnimationFrame(step);
		};
		step();
	})`)
	t.Logf("%s blocks, slowest of 120 frames: computed in %s ms, %s ms after the one before (without a graphics card)", blocks, slowest[0], slowest[1])
	var ms float64
	if _, err := fmt.Sscan(slowest[0], &ms); err != nil || ms > 33 {
		t.Errorf("slowest frame %s ms: %v", slowest, err)
	}
	for _, e := range saw.problems(base) {
		t.Error(e)
	}
}
