package execute_test

import (
	"net/netip"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// Only a complete answer of the right node without any user of the address allows a write.
// After any other answer nothing is written, not even an Intent.
func TestNoWriteWithoutVerification(t *testing.T) {
	for name, answer := range map[string]func(*model.Verification) error{
		"no answer":                func(*model.Verification) error { return errTest },
		"incomplete":               func(v *model.Verification) error { v.Complete = false; return nil },
		"answer of another node":   func(v *model.Verification) error { v.Node = "n2"; return nil },
		"a sandbox is ready":       sandboxReady(blockA),
		"a namespace has it":       namespaceHas("10.0.0.0/32"),
		"an interface has it":      func(v *model.Verification) error { v.Links = []model.Link{{IPs: prefixes("10.0.0.0/32")}}; return nil },
		"a CNI call does not end":  func(v *model.Verification) error { v.Calls = []model.Process{{Command: "ADD"}}; return nil },
		"a call of that container": func(v *model.Verification) error { v.Calls = []model.Process{{CNI: containerOf(blockA)}}; return nil },
		"a stopped sandbox has one": func(v *model.Verification) error {
			v.Sandboxes = []model.Sandbox{{ID: containerOf(blockA), Inode: 7}}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, blockA)
			c.answer = answer
			res, err := c.executor().Run(t.Context(), planOf([]string{blockA}), nil)
			if err != nil || c.tries != 0 || c.outcomes() != "moved" || res.Findings[findingA].Outcome != repair.Refused {
				t.Errorf("%v, %d writes sent, journal %q, %+v", err, c.tries, c.outcomes(), res)
			}
		})
	}
}

func sandboxReady(block string) func(*model.Verification) error {
	return func(v *model.Verification) error {
		v.Sandboxes = []model.Sandbox{{ID: containerOf(block), Ready: true}}
		return nil
	}
}

func namespaceHas(ip string) func(*model.Verification) error {
	return func(v *model.Verification) error {
		v.Attachments = []model.Attachment{{IPs: prefixes(ip)}}
		return nil
	}
}

func prefixes(p string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(p)} }

// A CNI call of an overloaded node is waited for, for a minute in a whole run: a call that never ends does not hold up every
// finding for as long.
func TestSlowCallIsWaitedFor(t *testing.T) {
	c := newCluster(t, blockA)
	begun := c.clock
	c.answer = func(v *model.Verification) error {
		if c.clock.Sub(begun) < 40*time.Second {
			v.Calls = []model.Process{{Command: "DEL"}}
		}
		return nil
	}
	res, err := c.executor().Run(t.Context(), planOf([]string{blockA}), nil)
	if err != nil || c.tries != 1 {
		t.Errorf("a call of 40 s: %v, %d writes sent, %+v", err, c.tries, res)
	}

	c = newCluster(t, blockA, blockB)
	begun = c.clock
	c.answer = func(v *model.Verification) error { v.Calls = []model.Process{{Command: "DEL"}}; return nil }
	res, err = c.executor().Run(t.Context(), planOf([]string{blockA}, []string{blockB}), nil)
	if took := c.clock.Sub(begun); err != nil || c.tries != 0 || took < time.Minute || took > 90*time.Second {
		t.Errorf("a call that never ends: %v, %d writes sent after %s, %+v", err, c.tries, took, res)
	}
}
