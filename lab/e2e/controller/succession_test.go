//go:build e2e

package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

var kills = flag.Int("kills", 3, "how often the leader is killed")

// TestSuccession kills leaders at random moments, while a finding is suppressed and shown again: the next one
// has it within half a minute, as it is then, once, with the time at which it was first seen; and of two leaders
// never both write.
func TestSuccession(t *testing.T) {
	b := start(t, lab.KDD, 2)
	sc := stage.Scenario{Name: "watched", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.Run(ctx, stage.PodSpec{Name: "freed", Node: "node1"})
		if err != nil {
			return err
		}
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
			return err
		}
		first := b.becomes("Confirmed", settle+90*time.Second)
		var took []time.Duration
		for i := range *kills {
			took = append(took, b.next(ctx, fmt.Sprintf("controller-%d", i+2), pod.Status.PodIP, first, i%2 == 0))
			if t.Failed() {
				return fmt.Errorf("after %d kills", i+1)
			}
		}
		slices.Sort(took)
		t.Logf("%d leaders killed: the next had the finding after %.1f s (median), %.1f s at most", len(took), took[len(took)/2].Seconds(), took[len(took)-1].Seconds())
		return nil
	}}
	if err := stage.Play(t.Context(), b.Lab, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	b.oneWriter(*kills)
}

// next kills the leader, starts another replica, and waits until the next leader has the finding: suppressed, or
// shown again.
func (b *bench) next(ctx context.Context, replacement, subject string, first finding, hide bool) time.Duration {
	b.t.Helper()
	time.Sleep(time.Duration(rand.IntN(12_000)) * time.Millisecond)
	old, err := b.leader(ctx)
	if err != nil || b.replicas[old] == nil {
		b.t.Fatalf("leader %q: %v", old, err)
	}
	state := "Confirmed"
	if hide {
		state = "Suppressed"
		err = b.Apply(ctx, suppression("known", subject, time.Hour))
	} else {
		_, err = b.Kubectl(ctx, "delete", "suppression", "known")
	}
	if err == nil {
		err = b.replicas[old].Process.Kill()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	began := time.Now()
	b.run(replacement)
	is := b.becomes(state, 45*time.Second)
	took := time.Since(began)
	switch who, err := b.leader(ctx); {
	case err != nil || who == old:
		b.t.Errorf("leader %q after %q was killed: %v", who, old, err)
	case is.Metadata.UID != first.Metadata.UID || is.Status.FirstSeen != first.Status.FirstSeen || took > 30*time.Second:
		b.t.Errorf("after %s the finding is %+v, and was %+v", took, is, first)
	}
	if all, err := b.findings(ctx); err != nil || len(all) != 1 {
		b.t.Errorf("findings: %+v, %v", all, err)
	}
	return took
}

// oneWriter reads in the audit log who wrote findings: each replica until the next one did, and not again.
func (b *bench) oneWriter(kills int) {
	b.t.Helper()
	log, err := os.ReadFile(b.AuditLog())
	if err != nil {
		b.t.Fatal(err)
	}
	var writers []string
	for line := range bytes.Lines(log) {
		var r struct {
			Verb string
			User struct {
				Username string
				Extra    map[string][]string
			}
			ObjectRef struct{ Resource string }
		}
		if json.Unmarshal(line, &r) != nil || !strings.HasSuffix(r.User.Username, ":plumbline-controller") || r.ObjectRef.Resource != "findings" || r.Verb == "list" {
			continue
		}
		who := strings.Join(r.User.Extra["authentication.kubernetes.io/credential-id"], "")
		if who == "" {
			b.t.Fatalf("the audit log does not tell replicas apart: %s", line)
		}
		writers = append(writers, who)
	}
	inOrder := slices.Compact(slices.Clone(writers))
	slices.Sort(writers)
	if n := len(slices.Compact(writers)); n != len(inOrder) || n < kills {
		b.t.Errorf("%d leaders wrote in %d turns after %d kills", n, len(inOrder), kills)
	}
	b.t.Logf("%d leaders wrote findings, one after the other", len(inOrder))
}
