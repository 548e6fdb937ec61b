package guard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cluster"
)

// A namedCall is a call with the name by which it is asked for.
type namedCall struct {
	Name string `json:"name"` // as guard explain takes it
	cluster.GuardCall
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
	unread map[string]error
}

func callsOf(ctx context.Context, p agents, q callsQuestion) saidCalls {
	all, silent := p.Calls(ctx, q.agents())
	out := saidCalls{q: q, unread: silent}
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

// A repeatedCall stands for several that differ in nothing but their time.
type repeatedCall struct {
	namedCall
	count int
	last  time.Time
}

func (c *repeatedCall) repeated() string {
	if c.count == 1 {
		return ""
	}
	return fmt.Sprintf(" (%s, last %s)", times(c.count), c.last.UTC().Format(callTime))
}

// grouped makes one of calls that follow each other and say the same.
func grouped(calls []namedCall) []repeatedCall {
	var out []repeatedCall
	for _, c := range calls {
		if n := len(out); n > 0 {
			p := &out[n-1]
			if p.Node == c.Node && p.Verb == c.Verb && p.Key == c.Key && p.Rule == c.Rule && p.Code == c.Code && p.Note() == c.Note() && slices.Equal(p.Lost, c.Lost) {
				p.count++
				p.last = c.At
				continue
			}
		}
		out = append(out, repeatedCall{c, 1, c.At})
	}
	return out
}
