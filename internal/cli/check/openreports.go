package check

import (
	"fmt"
	"strconv"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// maxResults bounds a report that people store as an object of the API server; the summary counts all.
const maxResults = 500

// An openReport is a check as a ClusterReport of openreports.io/v1alpha1, which dashboards for policies show.
type openReport struct {
	APIVersion    string         `json:"apiVersion"`
	Kind          string         `json:"kind"`
	Metadata      openMetadata   `json:"metadata"`
	Source        string         `json:"source"`
	Configuration openLimits     `json:"configuration"`
	Summary       map[string]int `json:"summary"`
	Results       []openResult   `json:"results"`
}

type openMetadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations"`
}

type openLimits struct {
	Limits struct {
		MaxResults int `json:"maxResults"`
	} `json:"limits"`
}

type openResult struct {
	Policy     string            `json:"policy"`
	Rule       string            `json:"rule,omitempty"`
	Category   string            `json:"category"`
	Severity   string            `json:"severity,omitempty"`
	Result     string            `json:"result"`
	Timestamp  openTime          `json:"timestamp"`
	Message    string            `json:"message"`
	Properties map[string]string `json:"properties,omitempty"`
}

type openTime struct {
	Seconds int64 `json:"seconds"`
	Nanos   int32 `json:"nanos"`
}

// openSeverities are OpenReports' words for severities.
var openSeverities = map[finding.Severity]string{finding.Error: "high", finding.Warning: "medium", finding.Info: "info"}

// openReportOf gives the confirmed findings as failures or warnings, and what was not judged everywhere as errors.
func openReportOf(r *audit.Report, judged []*detect.Detector) openReport {
	out := openReport{
		APIVersion: "openreports.io/v1alpha1", Kind: "ClusterReport", Source: "plumbline", Results: []openResult{},
		Summary:  map[string]int{"pass": 0, "fail": 0, "warn": 0, "error": 0, "skip": 0},
		Metadata: openMetadata{Name: "plumbline", Annotations: map[string]string{"plumbline.dev/taken": r.Taken.String(), "plumbline.dev/unconfirmed": strconv.Itoa(len(r.Unconfirmed))}},
	}
	out.Configuration.Limits.MaxResults = maxResults
	at := openTime{Seconds: r.Taken.Time().Unix()}
	more := 0
	add := func(x openResult) {
		out.Summary[x.Result]++
		if x.Timestamp, x.Category = at, "network"; len(out.Results) < maxResults {
			out.Results = append(out.Results, x)
		} else {
			more++
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		result := "fail"
		if f.Severity != finding.Error {
			result = "warn"
		}
		add(openResult{Policy: string(f.Code), Rule: plain.Line(f.Key()), Severity: openSeverities[f.Severity], Result: result, Message: plain.Line(f.Summary), Properties: map[string]string{"node": plain.Line(f.Node), "subject": plain.Line(f.Subject.Name)}})
	}
	of := outcomes(r)
	for _, d := range judged {
		switch o := of[d.Code]; {
		case o.why != "":
			add(openResult{Policy: string(d.Code), Result: o.result, Message: o.why})
		case !o.found:
			out.Summary["pass"]++ // counted, not listed
		}
	}
	if n := len(r.Gaps); n > 0 {
		add(openResult{Policy: "coverage", Result: "error", Message: fmt.Sprintf("%s not read, such as %s: %s", plain.Count(n, "table"), r.Gaps[0].Table, plain.Line(r.Gaps[0].Reason))})
	}
	out.Metadata.Annotations["plumbline.dev/not-listed"] = strconv.Itoa(more)
	return out
}
