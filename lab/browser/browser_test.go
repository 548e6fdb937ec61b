// Package browser_test looks at the UI in a real browser. It is a module of its own, so that the product does not depend
// on a browser's driver; make ui runs it.
package browser_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	program   = flag.String("plumbline", "../../bin/plumbline", "the program")
	bundles   = flag.String("bundles", "", "directory of bundles to look at")
	large     = flag.String("large", "", "a bundle of 150,000 pods")
	out       = flag.String("out", "", "where screenshots go")
	axe       = flag.String("axe", "", "axe.min.js")
	site      = flag.String("site", "", "directory of the documentation site")
	incidents = flag.String("incidents", "", "directory of bundles of the incidents of docs/incidents.md")
	address   = flag.String("url", "", "a UI that runs already, with its code")
)

// ui starts plumbline ui with a bundle, and gives the address that it prints.
func ui(t *testing.T, bundle string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), *program, "ui", "--bundle", bundle)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	began := time.Now()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("plumbline ui printed no address: %v", err)
	}
	t.Logf("%s: loaded and judged in %s", filepath.Base(bundle), time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() { t.Logf("%s: %s", filepath.Base(bundle), usage(cmd.Process.Pid)) })
	return strings.TrimSpace(line)
}

// usage is what a running program has used.
func usage(pid int) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	f := strings.Fields(string(stat))
	if len(f) < 15 {
		return "nothing is known of it"
	}
	user, _ := strconv.Atoi(f[13])
	system, _ := strconv.Atoi(f[14])
	return fmt.Sprintf("at most %s of memory, %.1f s of CPU", strings.TrimSpace(peak), float64(user+system)/100)
}

// A seen page is what the browser reported while it was open.
type seen struct {
	mu       sync.Mutex
	errors   []string
	requests []string
}

// tab opens a tab and notes errors and requests.
func tab(t *testing.T, flags ...chromedp.ExecAllocatorOption) (context.Context, *seen) {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], append([]chromedp.ExecAllocatorOption{
		chromedp.NoSandbox, // as root
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
	}, flags...)...)
	alloc, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(alloc)
	t.Cleanup(end)
	s := &seen{}
	chromedp.ListenTarget(ctx, func(ev any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			s.errors = append(s.errors, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError {
				s.errors = append(s.errors, fmt.Sprintf("console: %s", e.Args[0].Value))
			}
		case *log.EventEntryAdded: // what the policy refuses, and what could not be loaded
			if e.Entry.Level == log.LevelError {
				s.errors = append(s.errors, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
			}
		case *network.EventLoadingFailed:
			if !e.Canceled { // a page that is left ends what it listened to
				s.errors = append(s.errors, fmt.Sprintf("not loaded: %s %s", e.ErrorText, e.BlockedReason))
			}
		case *network.EventRequestWillBeSent:
			s.requests = append(s.requests, e.Request.URL)
		case *network.EventResponseReceived:
			if e.Response.Status >= 400 {
				s.errors = append(s.errors, fmt.Sprintf("%d %s", e.Response.Status, e.Response.URL))
			}
		}
	})
	if err := chromedp.Run(ctx, network.Enable(), runtime.Enable(), log.Enable()); err != nil {
		t.Fatal(err)
	}
	return ctx, s
}

// problems gives what was reported since the last call, and requests to anywhere else.
func (s *seen) problems(base string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.errors
	origin := base[:strings.LastIndexByte(strings.TrimSuffix(base, "/"), '/')]
	for _, r := range s.requests {
		if !strings.HasPrefix(r, origin+"/") && !strings.HasPrefix(r, "data:") && r != "about:blank" {
			out = append(out, "a request to "+r)
		}
	}
	s.errors, s.requests = nil, nil
	return out
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	var v T
	do(t, ctx, chromedp.Evaluate(js, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v
}

// enter opens the UI with its code and gives the address of its pages.
func enter(t *testing.T, ctx context.Context, first string) string {
	t.Helper()
	do(t, ctx, chromedp.Navigate(first), chromedp.WaitVisible("#main"))
	return eval[string](t, ctx, `location.origin + location.pathname`)
}

// A screen is how a page is looked at.
type screen struct {
	name  string
	width int64
	dark  bool
}

var screens = []screen{{"wide", 1400, false}, {"dark", 1400, true}, {"phone", 400, false}, {"phone-dark", 400, true}}

func (s screen) set(t *testing.T, ctx context.Context) {
	t.Helper()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	do(t, ctx, emulation.SetDeviceMetricsOverride(s.width, 900, 1, s.width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// paths are one address of each kind of page, found by following links.
func paths(t *testing.T, ctx context.Context, base string) []string {
	t.Helper()
	kinds, queue := map[string]string{}, []string{""}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		kind, _, _ := strings.Cut(p, "?")
		if _, ok := kinds[kind]; ok {
			continue
		}
		kinds[kind] = p
		do(t, ctx, chromedp.Navigate(base+p), chromedp.WaitVisible("#main"))
		for _, l := range eval[[]string](t, ctx, `[...document.querySelectorAll("a[href]")].map(a => new URL(a.getAttribute("href"), location.href).href)`) {
			if rest, ok := strings.CutPrefix(l, base); ok && !strings.HasPrefix(rest, "#") && !strings.Contains(rest, "#") {
				queue = append(queue, rest)
			}
		}
	}
	var all []string
	for _, p := range kinds {
		all = append(all, p)
	}
	return all
}

// serious gives the serious faults that axe finds.
func serious(t *testing.T, ctx context.Context) []string {
	t.Helper()
	text, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	var none any
	do(t, ctx, chromedp.Evaluate(string(text)+";0", &none))
	return eval[[]string](t, ctx, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary).join(" | ")))`)
}
