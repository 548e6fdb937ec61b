package guard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

// fewLines bounds the lines of one sort on a screen.
const fewLines = 3

// printNodeLines say below the table what a person should know of single nodes.
func printNodeLines(sess *term.Session, all guards) {
	said := map[string]int{}
	for i := range all.said {
		n := &all.said[i]
		if n.Report == nil {
			continue
		}
		for _, l := range nodeLines(n) {
			if said[l[0]]++; said[l[0]] <= fewLines {
				sess.PrintLabelled(sess.Width(), l[0], l[1])
			}
		}
	}
	for _, label := range slices.Sorted(maps.Keys(said)) {
		if n := said[label] - fewLines; n > 0 {
			fmt.Fprintf(sess.Stdout, "%s%s more (-o json has them all)\n", label, plain.Thousands(n))
		}
	}
}

// nodeLines gives labels, and what is to be said under them of one node.
func nodeLines(n *cluster.GuardStatus) (out [][2]string) {
	r := n.Report
	say := func(label, format string, args ...any) {
		out = append(out, [2]string{label + ": ", n.Node + fmt.Sprintf(format, args...)})
	}
	if why := r.Unprotected(); why != "" {
		say("Not protected", ": mode enforce is configured, and a late DEL may still reach a newer pod: %s", why)
	}
	if r.Lost > 0 {
		say("Harm", ": a DEL of an older sandbox removed network state of a newer pod, %s", times(r.Lost))
	}
	for i := range r.Endless {
		e := &r.Endless[i]
		advice := "This error is not one that the guard may answer with success"
		if r.Mode != guard.Enforce {
			advice = fmt.Sprintf("Switch the guard on %s to enforce, or see below", n.Node)
		}
		say("Retried DEL", " %s, %s DELs since %s; the next pod of that name on this node loses its network. %s", endlessOf(e), plain.Thousands(e.Count), e.Since.UTC().Format(plain.MinuteLayout), advice)
	}
	if mode := inForce(r); r.Unprotected() != "" && mode != r.Wanted {
		// reported above
	} else if mode != r.Wanted {
		say("Wanted", ": %s, but it is %s: %s", plain.Dash(string(r.Wanted)), cmp.Or(string(mode), "not installed"), plain.Dash(r.Why))
	} else if r.Why != "" {
		say("Wanted", ": %s: %s", plain.Dash(string(r.Wanted)), r.Why)
	}
	if d := n.Age(); d > daemonSilentAfter {
		say("Old data", ": data is %s old: the guard daemon has not reported since", plain.Age(d))
	}
	if r.Named > 0 {
		say("Off", ": the plugin is still installed and passes all calls on: %s", counted(r.Named, "file still names it", "files still name it"))
	}
	if r.Waiting != "" && r.Queue > 0 {
		say("Queue", ": %s: %s", plain.Count(r.Queue, "DEL"), r.Waiting)
	}
	if r.Succeeded > 0 {
		say("Ended", ": a retried DEL was answered with success, %s (rule 11)", times(r.Succeeded))
	}
	if r.Open > 0 {
		say("Errors", ": the guard itself failed in %s and passed them on", plain.Count(r.Open, "call"))
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return plain.Thousands(n) + " times"
}

// counted is count for a plural that is more than an s.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return plain.Thousands(n) + " " + many
}

func endlessOf(e *guard.Endless) string {
	if e.Pod == "" {
		return plain.ShortID(e.Container)
	}
	return e.Namespace + "/" + e.Pod
}

// printNext is where to look next: at the worst that was seen.
func printNext(sess *term.Session, all guards) {
	var late *cluster.GuardStatus
	for i := range all.said {
		n := &all.said[i]
		if n.Report == nil {
			continue
		}
		for _, e := range n.Report.Endless {
			if e.Pod != "" {
				sess.Next("timeline pod %s -n %s", arg(e.Pod), arg(e.Namespace))
				return
			}
		}
		if r := n.Report; r.Late+r.Lost > 0 && (late == nil || r.Lost > 0 && late.Report.Lost == 0) {
			late = n
		}
	}
	if late != nil {
		sess.Next("guard log --node %s", arg(late.Node))
		return
	}
	sess.Next("guard log")
}

// arg is a stranger's name as a word that can be pasted: what a shell would obey, a name
// in Kubernetes never has.
func arg(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r == '/' || r == ':' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}
