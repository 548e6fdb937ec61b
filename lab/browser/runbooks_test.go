package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Each incident of docs/incidents.md as the UI shows its first finding; -out keeps the pictures of the page.
func TestRunbooks(t *testing.T) {
	if *incidents == "" {
		t.Skip("-incidents names no bundles")
	}
	files, err := filepath.Glob(filepath.Join(*incidents, "*.tar.gz"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d incidents: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".tar.gz")
		ctx, saw := tab(t)
		base := enter(t, ctx, ui(t, file))
		do(t, ctx, emulation.SetDeviceMetricsOverride(1200, 760, 1, false), chromedp.Navigate(base+"findings"), chromedp.WaitVisible("#list"))
		first := eval[string](t, ctx, `(document.querySelector("#list a.row") || {href: ""}).href`)
		if first == "" {
			t.Errorf("%s: no finding", name)
			continue
		}
		do(t, ctx, chromedp.Navigate(first), chromedp.WaitVisible(".commands"))
		var png []byte
		do(t, ctx, chromedp.CaptureScreenshot(&png))
		if *out != "" {
			if err := os.WriteFile(filepath.Join(*out, name+".png"), png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: %s, %d bytes", name, strings.TrimPrefix(first, base), len(png))
		for _, e := range saw.problems(base) {
			t.Errorf("%s: %s", name, e)
		}
	}
}
