package check

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// groupAbove is how many findings of one code are listed one by one.
const groupAbove = 5

// findingRows is a line for each finding, or for each group of many.
func findingRows(fs []finding.Finding, now model.Time, list, wide bool) [][]string {
	head := []string{"SEV", "FINDING", "AGE", "WHAT"}
	if wide {
		head = []string{"SEV", "FINDING", "AGE", "NODE", "EXPLAINS", "WHAT"}
	}
	rows := [][]string{head}
	many := map[finding.Code][]*finding.Finding{}
	for i := range fs {
		many[fs[i].Code] = append(many[fs[i].Code], &fs[i])
	}
	done := map[finding.Code]bool{}
	for i := range fs {
		f := &fs[i]
		group := many[f.Code]
		if list || len(group) <= groupAbove {
			row := []string{sev(f.Severity), plain.ShortIDs(f.Key()), plain.Age(f.Age(now)), plain.ShortIDs(f.Summary)}
			if wide {
				row = []string{sev(f.Severity), f.Key(), plain.Age(f.Age(now)), plain.Dash(f.Node), plain.Dash(strings.Join(f.Explains, ",")), f.Summary}
			}
			rows = append(rows, row)
			continue
		}
		if done[f.Code] {
			continue
		}
		done[f.Code] = true
		rows = append(rows, []string{sev(worst(group)), groupName(f.Code, group), plain.Age(oldest(group, now).Age(now)), plain.ShortIDs(sample(group))})
	}
	return rows
}

// groupName shows a code, and how many findings it has on how many nodes.
func groupName(c finding.Code, group []*finding.Finding) string {
	nodes := map[string]bool{}
	for _, f := range group {
		if f.Node != "" {
			nodes[f.Node] = true
		}
	}
	what := plural(group[0].Subject.Kind)
	if len(nodes) > 1 {
		return fmt.Sprintf("%s (%s %s, %s nodes)", c, plain.Thousands(len(group)), what, plain.Thousands(len(nodes)))
	}
	return fmt.Sprintf("%s (%s %s)", c, plain.Thousands(len(group)), what)
}

func plural(k model.Kind) string {
	switch k {
	case model.KindAddress:
		return "addresses"
	case model.KindAffinity:
		return "affinities"
	case model.KindCluster:
		return "things"
	default:
		return string(k) + "s"
	}
}

// sample is what a group has in common: its code's title, and one of it.
func sample(group []*finding.Finding) string {
	title := group[0].Summary
	differ := slices.ContainsFunc(group, func(f *finding.Finding) bool { return f.Summary != title })
	if d := detect.ByCode(group[0].Code); d != nil && differ {
		title = d.Title
	}
	return title + ", as " + group[0].Subject.Name
}

func worst(group []*finding.Finding) finding.Severity {
	return slices.MaxFunc(group, func(a, b *finding.Finding) int { return a.Severity.Level() - b.Severity.Level() }).Severity
}

func oldest(group []*finding.Finding, now model.Time) *finding.Finding {
	return slices.MaxFunc(group, func(a, b *finding.Finding) int { return int(a.Age(now) - b.Age(now)) })
}

func sev(s finding.Severity) string { return strings.Replace(string(s), "warning", "warn", 1) }
