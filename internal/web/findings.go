package web

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
)

// A list is the findings that were asked for, one page of them.
type list struct {
	Findings                          []row
	Pages                             pages
	Hidden                            int // about pods that who asks may not list
	Codes                             []finding.Code
	Severity, State, Code, Node, Text string
}

// Severities are what can be chosen.
func (*list) Severities() []string { return []string{"error", "warning", "info"} }

// States are the lists of a report.
func (*list) States() []string { return []string{"confirmed", "unconfirmed", "folded", "suppressed"} }

// pageSize is how many rows a page has.
const pageSize = 100

// pages are those of a list; the addresses of the pages before and after, empty if there is none.
type pages struct {
	From, To, All int
	Before, After string
}

// First is the number of the first row, counted from one.
func (p pages) First() int { return p.From + 1 }

// paged gives the part of a list that a query for a page asks for.
func paged(all int, page string, q url.Values) pages {
	n, _ := strconv.Atoi(q.Get("page")) // what is no number is the first
	n = max(0, min(n, (all-1)/pageSize))
	p := pages{From: n * pageSize, To: min(all, (n+1)*pageSize), All: all}
	at := func(n int) string {
		to := maps.Clone(q)
		to.Set("page", strconv.Itoa(n))
		return page + "?" + to.Encode()
	}
	if n > 0 {
		p.Before = at(n - 1)
	}
	if p.To < all {
		p.After = at(n + 1)
	}
	return p
}

func (l *look) findings() (string, any, error) {
	out := &list{Severity: l.q.Get("severity"), State: l.q.Get("state"), Code: l.q.Get("code"), Node: l.q.Get("node"), Text: l.q.Get("q")}
	words := strings.Fields(strings.ToLower(out.Text))
	codes := map[finding.Code]bool{}
	var all []*finding.Finding
	for _, fs := range l.chosen(out.State) {
		for i := range fs {
			f := &fs[i]
			if !l.sees(f) { // before any word is compared: how many match must not tell a name
				out.Hidden++
				continue
			}
			codes[f.Code] = true
			if out.wants(f) && l.isOn(f, out.Node) && has(f, words) {
				all = append(all, f)
			}
		}
	}
	out.Pages = paged(len(all), "findings", l.q)
	for _, f := range all[out.Pages.From:out.Pages.To] {
		out.Findings = append(out.Findings, row{f, as(out.State)})
	}
	out.Codes = slices.Sorted(maps.Keys(codes))
	return "findings", out, nil
}

// chosen are the lists of a state; without one those that are confirmed, and those that may be.
func (l *look) chosen(state string) [][]finding.Finding {
	switch state {
	case "confirmed":
		return [][]finding.Finding{l.Findings}
	case "unconfirmed":
		return [][]finding.Finding{l.Unconfirmed}
	case "folded":
		return [][]finding.Finding{l.Folded}
	case "suppressed":
		return [][]finding.Finding{l.Suppressed}
	default:
		return [][]finding.Finding{l.Findings, l.Unconfirmed}
	}
}

func (o *list) wants(f *finding.Finding) bool {
	return (o.Severity == "" || o.Severity == string(f.Severity)) && (o.Code == "" || o.Code == string(f.Code))
}

// isOn tells that a finding concerns a node, which need not be there any more; without one all do.
func (l *look) isOn(f *finding.Finding, node string) bool {
	return node == "" || node == f.Node || node == f.Subject.Name || slices.Contains(l.nodesOf(f), node)
}

// as is what rows of a list are, of which their own state does not tell it.
func as(state string) string {
	if state == "folded" || state == "suppressed" {
		return state
	}
	return ""
}

// has tells that a finding has all the words.
func has(f *finding.Finding, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(f.Key() + " " + f.Summary + " " + f.Node)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
