package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// APIVersion is of all machine output.
const APIVersion = cluster.APIVersion

// A checkReport is what check -o json prints.
type checkReport struct {
	APIVersion  string           `json:"apiVersion"`
	Kind        string           `json:"kind"`
	Cluster     clusterSummary   `json:"cluster"`
	Taken       model.Time       `json:"taken"`
	Findings    []namedFinding   `json:"findings"`
	Unconfirmed []namedFinding   `json:"unconfirmed"`
	Suppressed  []namedFinding   `json:"suppressed"`
	NotJudged   []detect.Skip    `json:"notJudged"`
	NotChecked  []model.Coverage `json:"notChecked"`
	Headlines   []string         `json:"headlines"`
	Pattern     *audit.Pattern   `json:"pattern,omitempty"` // that most began at one time
}

// A codePage is what explain CODE -o json prints.
type codePage struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Code       finding.Code `json:"code"`
	Text       string       `json:"text"` // Markdown
}

// A clusterSummary says which cluster was looked at.
type clusterSummary struct {
	GUID         string `json:"guid"`
	Kubernetes   string `json:"kubernetes"`
	Calico       string `json:"calico"`
	Datastore    string `json:"datastore"`
	DetectedFrom string `json:"detectedFrom"`
}

// A namedFinding carries the name by which it is asked for.
type namedFinding struct {
	Name string `json:"name"`
	finding.Finding
}

func document(r *audit.Report) checkReport {
	info := r.View.Info()
	return checkReport{
		APIVersion: APIVersion, Kind: "CheckReport", Taken: r.Taken,
		Cluster: clusterSummary{
			GUID: r.View.Snapshot().Meta.GUID, Kubernetes: info.Kubernetes, Calico: info.Calico, Datastore: info.Datastore, DetectedFrom: r.Calico.Why,
		},
		Findings: named(r.Findings), Unconfirmed: named(r.Unconfirmed), Suppressed: named(r.Suppressed),
		NotJudged: notNil(r.Skipped), NotChecked: notNil(r.Gaps), Headlines: notNil(r.MassChanges), Pattern: r.Pattern(),
	}
}

func named(fs []finding.Finding) []namedFinding {
	out := make([]namedFinding, 0, len(fs))
	for _, f := range fs {
		out = append(out, namedFinding{f.Key(), f})
	}
	return out
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// machine prints a document as JSON or YAML.
func (g *global) machine(doc any, format string) error {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	if format == "yaml" {
		if b, err = yaml.JSONToYAML(b); err != nil {
			return err
		}
		_, err = g.Stdout.Write(b)
		return err
	}
	_, err = fmt.Fprintln(g.Stdout, printable(string(b)))
	return err
}

// printable escapes, in JSON, what a terminal would obey: it means the same.
func printable(s string) string {
	return nonPrintable.ReplaceAllStringFunc(s, func(c string) string {
		r, _ := utf8.DecodeRuneInString(c)
		return fmt.Sprintf(`\u%04x`, r)
	})
}

var nonPrintable = regexp.MustCompile(`[\x7f-\x{9f}\x{ad}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]`)
