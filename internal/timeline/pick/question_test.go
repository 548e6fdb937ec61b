package pick

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A question is the same when it arrives.
func TestQuestionTravels(t *testing.T) {
	t.Parallel()
	q := Question{
		Namespace: "ns", Pod: "web.x-0", UIDs: []string{uidA}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.3"), netip.MustParseAddr("fd00::1")},
		Sandboxes: []string{boxA, boxB[:12]}, Since: now0, Until: now0.Add(time.Hour),
	}
	got, err := ParseQuestion(q.Values())
	if err != nil || !reflect.DeepEqual(got, q) {
		t.Errorf("%+v, %v", got, err)
	}
	if with := (Question{Pod: "p"}).With([]string{boxA, uidA, boxA, "x", boxB}); len(with.Sandboxes) != 2 || len(with.UIDs) != 1 {
		t.Errorf("%+v", with)
	}
}

// A journal is searched for needles before lines are picked: every line about the question
// has one.
func TestNeedles(t *testing.T) {
	t.Parallel()
	text := "Nov 15 13:06:26.158011 w1 kubelet[36]: E1115 stop " + boxA + "\n" +
		"Nov 15 13:06:27.158011 w1 kubelet[36]: other\n" +
		"Nov 15 13:06:28.158011 w1 kubelet[36]: pod=\"ns/p\" " + boxA + " SECRET\n"
	q := Question{Namespace: "ns", Pod: "p"}
	for line := range strings.Lines(text) {
		if n := NewMatcher(q.With([]string{boxA})); n.match([]byte(line)) != byNothing && !hasNeedle(q.With([]string{boxA}), line) {
			t.Errorf("no needle in %s", line)
		}
	}
}

func hasNeedle(q Question, line string) bool {
	for _, n := range q.Needles() {
		if strings.Contains(line, n) {
			return true
		}
	}
	return false
}
