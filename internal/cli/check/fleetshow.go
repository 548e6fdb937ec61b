package check

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// A FleetReport is the document of a check of several clusters.
type FleetReport struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Clusters   []FleetCluster `json:"clusters"`
}

// A FleetCluster is one of them: its report, or why there is none.
type FleetCluster struct {
	Context string               `json:"context"`          // of the kubeconfig
	SameAs  string               `json:"sameAs,omitempty"` // an earlier context of the same cluster
	Error   string               `json:"error,omitempty"`  // why there is no report
	Report  *cluster.CheckReport `json:"report,omitempty"`
}

func showFleet(sess *term.Session, all []member, f flags) error {
	switch {
	case term.IsDocument(f.output):
		doc := FleetReport{APIVersion: cluster.APIVersion, Kind: "FleetReport", Clusters: make([]FleetCluster, len(all))}
		for i := range all {
			doc.Clusters[i] = FleetCluster{Context: all[i].Context, SameAs: all[i].SameAs}
			if all[i].Err != nil {
				doc.Clusters[i].Error = all[i].Err.Error()
			} else {
				doc.Clusters[i].Report = &all[i].Doc
			}
		}
		return sess.PrintDocument(doc, f.output)
	case f.output == "html":
		return fleetHTML(sess, all)
	default:
		fleetTable(sess, all, f.output == "wide")
		return nil
	}
}

// fleetTable is a line for each cluster, and below it what could not be read.
func fleetTable(sess *term.Session, all []member, wide bool) {
	cols := sess.Width()
	head := []string{"CONTEXT", "PODS", "NODES", "ERROR", "WARN", "INFO", "UNCONFIRMED", "CODES"}
	if wide {
		cols = 0
		head = slices.Insert(head, 1, "KUBERNETES", "CALICO", "DATASTORE")
	}
	rows := [][]string{head}
	for i := range all {
		m := &all[i]
		if m.Err != nil {
			row := slices.Repeat([]string{"-"}, len(head))
			row[0], row[len(row)-1] = m.Context, "not read"
			rows = append(rows, row)
			continue
		}
		row := []string{m.Context}
		if wide {
			row = append(row, plain.Dash(m.Doc.Cluster.Kubernetes), plain.Dash(m.Doc.Cluster.Calico), plain.Dash(m.Doc.Cluster.Datastore))
		}
		row = append(row, plain.Thousands(m.Checked.Pods), plain.Thousands(m.Checked.Nodes))
		for _, s := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
			row = append(row, plain.Thousands(m.count(s)))
		}
		rows = append(rows, append(row, plain.Thousands(len(m.Doc.Unconfirmed)), plain.Dash(m.codes())))
	}
	sess.PrintTable(cols, rows)
	fmt.Fprintln(sess.Stdout)
	sess.PrintLines(cols, fleetTotals(all))
	for i := range all {
		m := &all[i]
		switch {
		case m.Err != nil:
			sess.PrintLabelled(cols, "", fmt.Sprintf("Not read: %s: %s", m.Context, plain.Line(m.Err.Error())))
		case m.SameAs != "":
			sess.PrintLabelled(cols, "", fmt.Sprintf("Counted once: %s is the cluster of %s", m.Context, m.SameAs))
		}
		for _, h := range m.Doc.Headlines {
			sess.PrintLabelled(cols, "", fmt.Sprintf("! %s: %s", m.Context, h))
		}
		if len(m.Gaps) > 0 {
			sess.PrintLabelled(cols, "", m.Context+": "+gapText(m.Gaps))
		}
	}
	if m := worstMember(all); m != nil {
		sess.Next("check --context %s", plain.Quoted(m.Context))
	}
}

// gapText is the first of what was not checked, and how much more there is.
func gapText(gaps []string) string {
	text := gaps[0]
	if n := len(gaps) - 1; n > 0 {
		text += fmt.Sprintf(" (and %s)", plain.Count(n, "more line"))
	}
	return text
}

func (m *member) count(s finding.Severity) (n int) {
	for i := range m.Doc.Findings {
		if m.Doc.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

// codes are those of the findings, the most frequent first.
func (m *member) codes() string {
	n := map[finding.Code]int{}
	var codes []finding.Code
	for i := range m.Doc.Findings {
		c := m.Doc.Findings[i].Code
		if n[c]++; n[c] == 1 {
			codes = append(codes, c)
		}
	}
	slices.SortStableFunc(codes, func(a, b finding.Code) int { return n[b] - n[a] })
	var out []string
	for _, c := range codes {
		out = append(out, fmt.Sprintf("%s (%s)", c, plain.Thousands(n[c])))
	}
	return strings.Join(out, ", ")
}

// fleetTotals counts clusters, and every finding once, whichever context of its cluster showed it.
func fleetTotals(all []member) string {
	unread, same := 0, 0
	found, unconfirmed, suppressed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range all {
		m := &all[i]
		if m.Err != nil {
			unread++
			continue
		}
		of := m.Context
		if m.SameAs != "" {
			of = m.SameAs
			same++
		}
		for into, fs := range map[*map[string]bool][]cluster.NamedFinding{&found: m.Doc.Findings, &unconfirmed: m.Doc.Unconfirmed, &suppressed: m.Doc.Suppressed} {
			for j := range fs {
				(*into)[of+"\n"+fs[j].Name] = true
			}
		}
	}
	out := plain.Count(len(all)-unread-same, "cluster") + " checked"
	if unread > 0 {
		out += fmt.Sprintf(", %s NOT READ", plain.Thousands(unread))
	}
	if len(all) == unread {
		return out // nothing is known of findings
	}
	out += ": " + plain.Count(len(found), "finding")
	if n := len(unconfirmed); n > 0 {
		out += fmt.Sprintf("; %s unconfirmed", plain.Thousands(n))
	}
	if n := len(suppressed); n > 0 {
		out += fmt.Sprintf("; %s suppressed", plain.Thousands(n))
	}
	return out
}

// worstMember has the most errors, then the most findings; nil if none has any.
func worstMember(all []member) *member {
	var worst *member
	weight := func(m *member) int { return m.count(finding.Error)<<32 + len(m.Doc.Findings) }
	for i := range all {
		if m := &all[i]; weight(m) > 0 && (worst == nil || weight(m) > weight(worst)) {
			worst = m
		}
	}
	return worst
}

//go:embed fleet.html
var fleetPage string

// fleetTemplate shows findings as the report of one cluster does. It is made before either is executed, as html/template demands.
var fleetTemplate = template.Must(template.Must(reportTemplate.Clone()).New("fleet").Parse(fleetPage))

// perCode is how many findings of a code the page of a fleet lists for each cluster.
const perCode = 100

// Groups are the findings by code, for the page.
func (m *member) Groups() []*codeGroup {
	fs := make([]finding.Finding, len(m.Doc.Findings))
	for i := range fs {
		fs[i] = m.Doc.Findings[i].Finding
	}
	return grouped(fs)
}

func fleetHTML(sess *term.Session, all []member) error {
	return fleetTemplate.Execute(sess.Stdout, framed(map[string]any{
		"Totals": fleetTotals(all), "Clusters": all, "PerCode": perCode, "Prog": sess.Program, "Flags": sess.Flags(),
	}))
}
