//go:build e2e

package machines

import (
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/stage"
)

// TestTime: a machine that stood still for five minutes and one whose clock is ten minutes
// ahead: nothing is falsely confirmed, and the clock is named.
func TestTime(t *testing.T) {
	b := start(t, 1)
	b.clean()
	if err := b.machine.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	const during = 5 * time.Minute
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(30 * time.Second) {
		r, err := stage.CheckWith(t.Context(), b.Lab, b.bin, b.state, "--settle=20s")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if !strings.Contains(f.Name, b.machine.Name) {
				t.Errorf("while the machine stands still: %s: %s", f.Name, f.Summary)
			}
		}
	}
	if err := b.machine.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.eventually("the node", 2*time.Minute, b.machine.Ready)
	b.clockNamed("behind")
	if err := b.machine.SetClock(t.Context(), 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	b.clockNamed("by 10m0s (ahead)", "by 9m") // setting it took a while
	if err := b.machine.SetClock(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	b.podsReady()
	b.connected()
	b.clean()
	out, _, err := b.said("explain", "node", b.machine.Name)
	if err != nil || strings.Contains(out, "Clock ") {
		t.Errorf("a clock that is right: %v\n%s", err, out)
	}
}

// clockNamed requires that check and explain node name the machine's clock, with one of the
// texts.
func (b *bench) clockNamed(any ...string) {
	b.t.Helper()
	time.Sleep(20 * time.Second) // the agent reads the machine's table that often
	has := func(text string) bool {
		for _, a := range any {
			if strings.Contains(text, a) {
				return true
			}
		}
		return false
	}
	_, diag, err := b.said("check", "--settle=20s")
	if err != nil || !strings.Contains(diag, "clocks differ from the API server's: "+b.machine.Name) || !has(diag) {
		b.t.Errorf("check does not name the clock (%q): %v\n%s", any, err, diag)
	}
	out, _, err := b.said("explain", "node", b.machine.Name)
	if err != nil || !strings.Contains(out, "Clock ") || !has(out) {
		b.t.Errorf("explain node does not name the clock (%q): %v\n%s", any, err, out)
	}
	_, diag, err = b.said("timeline", "pod", "on-"+b.machine.Name, "-n", namespace)
	if err != nil || !strings.Contains(diag, b.machine.Name+": its clock differs") || !has(diag) {
		b.t.Errorf("timeline does not name the clock (%q): %v\n%s", any, err, diag)
	}
}

// said runs plumbline and returns what it printed to both streams.
func (b *bench) said(args ...string) (out, diag string, err error) {
	cmd := stage.Command(b.t.Context(), b.Lab, b.bin, b.state, args...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	if cmd.ProcessState != nil && (cmd.ProcessState.ExitCode() == 1 || cmd.ProcessState.ExitCode() == 3) {
		err = nil // there are findings, or something was not read
	}
	return o.String(), e.String(), err
}
