package guard

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

// A callLog is what guard log -o json prints.
type callLog struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Calls      []namedCall  `json:"calls"`
	NotChecked []unreadNode `json:"notChecked"`
}

// callsAsked reads the flags of guard log.
func callsAsked(f flags) (q callsQuestion, err error) {
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
	if term.IsDocument(output) {
		if err := sess.PrintDocument(callLog{cluster.APIVersion, "GuardLog", term.NotNil(s.calls), unreadList(s.unread)}, output); err != nil {
			return err
		}
		return gaps(s.unread)
	}
	if output == "name" {
		term.PrintNames(sess, s.calls, func(c *namedCall) string { return c.Name })
		return gaps(s.unread)
	}
	if len(s.calls) == 0 {
		fmt.Fprintln(sess.Stdout, "No recorded call matches.")
	} else {
		sess.PrintTable(sess.Width(), callRows(s.calls))
	}
	printUnread(sess, s.unread)
	if n := worstCall(s.calls); n != nil {
		sess.Next("guard explain %s", arg(n.Name))
	} else {
		sess.Next("guard status")
	}
	return gaps(s.unread)
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
		c.At.UTC().Format(layout), plain.Line(c.Name), plain.Line(string(c.Verb)), plain.InMiddle(plain.Line(pod), maxPodName), plain.Dash(plain.Line(plain.ShortID(c.Container))),
		millis(c.Took), plain.Line(plain.ShortIDs(outcome(c))),
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
