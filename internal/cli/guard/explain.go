package guard

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

// An explanation is what guard explain -o json prints.
type explanation struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	About      string          `json:"about"` // what was asked for
	Calls      []explainedCall `json:"calls"`
	NotChecked []string        `json:"notChecked"` // what is not known, and why
}

// An explainedCall is a call, its rule in words, and what the plugin would have done alone.
type explainedCall struct {
	namedCall
	Title string `json:"title"` // of the rule
	Does  string `json:"does"`  // what the rule does
	Why   string `json:"why"`   // why there is this rule
	Alone string `json:"alone"` // what Calico's plugin would have done without the guard
}

var (
	errNoCall   = errors.New("no recorded call matches")
	findingOf   = regexp.MustCompile(`^(?i:PL)[0-9]{4}/([^/]+/[^/]+)$`)
	containerOK = regexp.MustCompile(`^[0-9a-f]{8,64}$`)
	callOK      = regexp.MustCompile(`^([^/:]+):[0-9a-f]{6}$`)
)

// explained reads whose calls are to be explained.
func explained(sess *term.Session, name string, f flags) (q callsQuestion, err error) {
	q.node = f.node
	if m := findingOf.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	switch m := callOK.FindStringSubmatch(name); {
	case m != nil:
		q.node, q.call, q.about = m[1], name, "call "+name
	case f.namespace == "" && containerOK.MatchString(name):
		q.container, q.about = name, "container "+name
	default:
		q.namespace, q.pod = sess.PodNamed(name, f.namespace)
		if q.about = q.namespace + "/" + q.pod; q.namespace == "" || q.pod == "" || strings.Contains(q.pod, "/") {
			return q, fmt.Errorf("explain %q: want a pod, at least 8 digits of a container's ID, or a call as guard log names it", name)
		}
	}
	return q, nil
}

func explainCalls(sess *term.Session, s saidCalls, output string) error {
	if len(s.calls) == 0 {
		for _, l := range unreadNodes(s.unread) {
			fmt.Fprintln(sess.Stderr, "no answer: "+plain.Line(l))
		}
		return fmt.Errorf("%s: %w", s.q.about, errNoCall)
	}
	if term.IsDocument(output) {
		doc := explanation{APIVersion: cluster.APIVersion, Kind: "GuardExplanation", About: s.q.about, NotChecked: term.NotNil(s.notShown())}
		for _, c := range s.calls {
			r := guard.RuleOf(c.Rule)
			doc.Calls = append(doc.Calls, explainedCall{c, r.Title, r.Does, r.Why, c.Alone()})
		}
		if err := sess.PrintDocument(doc, output); err != nil {
			return err
		}
		return gaps(s.unread)
	}
	explainText(sess, &s)
	return gaps(s.unread)
}

func explainText(sess *term.Session, s *saidCalls) {
	w, cols := sess.Stdout, sess.Width()
	say := func(label, text string) { sess.PrintLabelled(cols, label, plain.ShortIDs(text)) }
	say("", s.headline())
	told := map[int]bool{}
	for _, c := range grouped(s.calls) {
		r := guard.RuleOf(c.Rule)
		fmt.Fprintln(w)
		say("", fmt.Sprintf("%s  %s of %s on %s, rule %d: %s%s", c.At.UTC().Format(callTime), c.Verb, plain.ShortID(c.Container), c.Node, c.Rule, r.Title, c.repeated()))
		say("  Done   ", done(&c.namedCall))
		if c.Late || c.Rule == 11 {
			say("  Found  ", c.Says)
		}
		if !told[c.Rule] {
			told[c.Rule] = true
			say("  Rule   ", r.Does)
			say("  Why    ", r.Why)
		}
		if alone := c.Alone(); !strings.HasPrefix(alone, "the same") {
			say("  Alone  ", alone)
		}
	}
	fmt.Fprintln(w)
	for _, l := range s.notShown() {
		say("Not shown: ", l)
	}
	if c := &s.calls[len(s.calls)-1]; c.Pod != "" {
		sess.Next("timeline pod %s -n %s", arg(c.Pod), arg(c.Namespace))
		return
	}
	sess.Next("guard log")
}

// headline says what it comes to.
func (s *saidCalls) headline() string {
	var nodes, boxes []string
	late, stopped, lost := 0, 0, 0
	for i := range s.calls {
		c := &s.calls[i]
		nodes, boxes = append(nodes, c.Node), append(boxes, c.Container)
		if c.Late {
			late++
		}
		if c.Stopped() {
			stopped++
		}
		if len(c.Lost) > 0 {
			lost++
		}
	}
	distinct := func(all []string) []string {
		slices.Sort(all)
		return slices.Compact(all)
	}
	text := fmt.Sprintf("%s on %s: %s of %s", s.q.about, plain.FewOf(distinct(nodes)), plain.Count(len(s.calls), "call"), counted(len(distinct(boxes)), "sandbox", "sandboxes"))
	switch {
	case lost > 0:
		return text + fmt.Sprintf("; %d late, and the newer one LOST something in %d", late, lost)
	case late > 0:
		return text + fmt.Sprintf("; %d late, of these %d stopped", late, stopped)
	default:
		return text + "; none late"
	}
}

// done says what was done with a call, and what came of it.
func done(c *namedCall) string {
	what := plain.Dash(c.Delegate)
	var out []string
	switch {
	case c.Stopped():
		out = append(out, fmt.Sprintf("kept from %s (%s)", what, c.Mode))
	case c.Called:
		out = append(out, fmt.Sprintf("passed on to %s (%s)", what, c.Mode))
	default:
		out = append(out, fmt.Sprintf("answered without %s (%s)", what, c.Mode))
	}
	switch {
	case c.Code != 0:
		out[0] += fmt.Sprintf(", failed in %s: %s", millis(c.Took), plain.Dash(c.Error))
	case c.Error != "":
		out[0] += fmt.Sprintf(", which failed in %s: %s", millis(c.Took), c.Error)
	default:
		out[0] += fmt.Sprintf(", succeeded in %s", millis(c.Took))
	}
	if c.Verb == guard.Add && c.Code == 0 {
		var has []string
		for _, ip := range c.IPs {
			has = append(has, ip.Addr().String())
		}
		if c.Device != "" {
			has = append(has, c.Device)
		}
		if len(has) > 0 {
			out[0] += ": " + strings.Join(has, ", ")
		}
	}
	out = append(out, c.Did...)
	if len(c.Lost) > 0 {
		out = append(out, "the newer sandbox LOST: "+strings.Join(c.Lost, ", "))
	}
	for _, t := range c.Trouble {
		out = append(out, "error in the guard: "+t)
	}
	return strings.Join(out, "; ")
}
