package browser_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var wanted = flag.String("watch", "", "a text that must come into the page of findings while it is open, and go again")

// TestWatching opens the confirmed findings of a UI that follows a cluster and touches nothing more: it says when a text comes
// into the page, and when it goes. Another program makes the incident, and its end.
func TestWatching(t *testing.T) {
	if *wanted == "" {
		t.Skip("-watch names no text")
	}
	ctx, saw := tab(t)
	base := enter(t, ctx, *address)
	if err := chromedp.Run(ctx, chromedp.Navigate(base+"findings?state=confirmed"), chromedp.WaitVisible("#main")); err != nil {
		t.Fatal(err)
	}
	fmt.Println("OPEN", time.Now().Format(time.RFC3339Nano))
	for _, says := range []string{"SHOWN", "GONE"} {
		js := fmt.Sprintf(`document.getElementById("main").innerText.includes(%q)`, *wanted)
		if says == "GONE" {
			js = "!" + js
		}
		if err := chromedp.Run(ctx, chromedp.Poll(js, nil, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(4*time.Minute))); err != nil {
			t.Fatalf("%s: %v", says, err)
		}
		fmt.Println(says, time.Now().Format(time.RFC3339Nano))
	}
	for _, e := range saw.problems(base) {
		t.Error(e)
	}
}
