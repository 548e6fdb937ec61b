package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/guard"
)

// A namedCall is a call with the name by which it is asked for.
type namedCall struct {
	Name string `json:"name"`
	cluster.GuardCall
}

// A guardLog is what guard log -o json prints.
type guardLog struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Calls      []namedCall  `json:"calls"`
	NotChecked []unreadNode `json:"notChecked"`
}

// A callsQuestion is whose calls are asked for.
type callsQuestion struct {
	about          string // as a person says it
	node           string
	namespace, pod string
	container      string // the first digits of its ID
	call           string // a call's own name
	since          time.Time
}

// wants tells whether a call is one of those.
func (q *callsQuestion) wants(c *namedCall) bool {
	return (q.namespace == "" || c.Namespace == q.namespace) && (q.pod == "" || c.Pod == q.pod) &&
		strings.HasPrefix(c.Container, q.container) && (q.call == "" || c.Name == q.call)
}

// agents is the question as agents are asked: it may give more than is wanted.
func (q *callsQuestion) agents() cluster.CallQuestion {
	out := cluster.CallQuestion{Since: q.since}
	switch {
	case q.container != "":
		out.About = q.container
	case q.pod != "" && q.namespace == "":
		out.About = "/" + q.pod
	case q.namespace != "":
		out.About = q.namespace + "/" + q.pod
	}
	return out
}

// A saidCalls is what the nodes say of calls, in order of time.
type saidCalls struct {
	q      callsQuestion
	calls  []namedCall
	unseen map[string]error
}

func callsOf(ctx context.Context, p guardAgents, q callsQuestion) saidCalls {
	all, silent := p.Calls(ctx, q.agents())
	out := saidCalls{q: q, unseen: silent}
	for node, calls := range all {
		for _, c := range calls {
			if n := (namedCall{callName(node, &c), c}); q.wants(&n) {
				out.calls = append(out.calls, n)
			}
		}
	}
	slices.SortFunc(out.calls, func(a, b namedCall) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// callName names a call for a person: its node, and a few digits that stay the same.
func callName(node string, c *cluster.GuardCall) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{node, c.At.UTC().Format(time.RFC3339Nano), string(c.Verb), c.Network, c.Container, c.IfName}, "\x00")))
	return node + ":" + hex.EncodeToString(sum[:3])
}

// callsAsked reads the flags of guard log.
func callsAsked(f guardFlags) (q callsQuestion, err error) {
	if err := term.OutputOneOf(f.output, "text", "json"); err != nil {
		return q, err
	}
	if f.follow && f.output != "text" {
		return q, errFollowText
	}
	q.node, q.namespace = f.node, f.namespace
	if ns, pod, ok := strings.Cut(f.pod, "/"); ok {
		q.namespace, q.pod = ns, pod
	} else {
		q.pod = f.pod
	}
	q.since, err = term.ParseTime(f.since, time.Now()) //nolint:forbidigo // --since 2h is before now
	if err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	return q, nil
}

func showCalls(sess *term.Session, s saidCalls, output string) error {
	if output == "json" {
		if err := sess.PrintDocument(guardLog{cluster.APIVersion, "GuardLog", term.NotNil(s.calls), unseenList(s.unseen)}, "json"); err != nil {
			return err
		}
		return gaps(s.unseen)
	}
	if len(s.calls) == 0 {
		fmt.Fprintln(sess.Stdout, "No recorded call matches.")
	} else {
		sess.PrintTable(sess.Width(), callRows(s.calls))
	}
	notSeenLines(sess, s.unseen)
	if n := worstCall(s.calls); n != nil {
		sess.Next("guard explain %s", arg(n.Name))
	} else {
		sess.Next("guard status")
	}
	return gaps(s.unseen)
}

// worstCall gives the newest call by which something was lost, else that was late, else
// any.
func worstCall(calls []namedCall) *namedCall {
	for _, bad := range []func(*namedCall) bool{
		func(c *namedCall) bool { return len(c.Lost) > 0 },
		func(c *namedCall) bool { return c.Late },
		func(*namedCall) bool { return true },
	} {
		for i := len(calls) - 1; i >= 0; i-- {
			if bad(&calls[i]) {
				return &calls[i]
			}
		}
	}
	return nil
}

const (
	callTime   = "01-02 15:04:05"
	maxPodName = 24
)

func callRows(calls []namedCall) [][]string {
	rows := [][]string{{"TIME", "CALL", "VERB", "POD", "SANDBOX", "TOOK", "WHAT"}}
	layout := time.TimeOnly
	if calls[0].At.UTC().YearDay() != calls[len(calls)-1].At.UTC().YearDay() {
		layout = callTime
	}
	for i := range calls {
		rows = append(rows, callRow(&calls[i], layout))
	}
	return rows
}

func callRow(c *namedCall, layout string) []string {
	pod := c.Subject()
	if c.Pod == "" {
		pod = "-"
	}
	return []string{
		c.At.UTC().Format(layout), term.Line(c.Name), term.Line(string(c.Verb)), inMiddle(term.Line(pod), maxPodName), term.Dash(term.Line(term.ShortID(c.Container))),
		millis(c.Took), term.Line(term.ShortIDs(outcome(c))),
	}
}

// outcome is what became of a call, the worst first.
func outcome(c *namedCall) string {
	var out []string
	add := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	add(len(c.Lost) > 0, "the newer pod lost: "+strings.Join(c.Lost, ", "))
	add(c.Stopped(), "late, stopped")
	add(c.Late && c.Called, "late, passed on")
	add(c.Rule == 11, "ended")
	add(c.Code != 0, "failed: "+c.Error)
	add(c.Rule == 6 && c.Verb == guard.Del, "no ownership record, passed on")
	add(len(c.Trouble) > 0, "trouble: "+strings.Join(c.Trouble, ", "))
	if len(out) == 0 {
		return "ok"
	}
	return strings.Join(out, "; ")
}
