package check

import (
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// A sarifLog is a check as SARIF 2.1.0, which code hosts and dashboards read: a rule for each code, a result for each
// finding, and a notification for what was not checked.
type sarifLog struct {
	Version string     `json:"version"`
	Schema  string     `json:"$schema"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	Successful bool                `json:"executionSuccessful"` // everything was checked
	Notes      []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Suppressions []sarifSuppressed `json:"suppressions,omitempty"`
}

type sarifLocation struct {
	Logical []sarifLogical `json:"logicalLocations"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifSuppressed struct {
	Kind string `json:"kind"`
}

// sarifLevels are SARIF's words for severities.
var sarifLevels = map[finding.Severity]string{finding.Error: "error", finding.Warning: "warning", finding.Info: "note"}

// sarifOf gives the confirmed findings of a report, also those that are suppressed.
func sarifOf(r *audit.Report, version string) sarifLog {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "plumbline", Version: version}
	for _, d := range detect.All {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{string(d.Code), sarifText{d.Title}})
	}
	add := func(fs []finding.Finding, suppressed []sarifSuppressed) {
		for i := range fs {
			f := &fs[i]
			if f.State != finding.Confirmed {
				continue
			}
			run.Results = append(run.Results, sarifResult{
				RuleID: string(f.Code), Level: sarifLevels[f.Severity], Message: sarifText{plain.Line(f.Summary)}, Suppressions: suppressed,
				Locations:    []sarifLocation{{[]sarifLogical{{plain.Line(f.Subject.Name), string(f.Subject.Kind)}}}},
				Fingerprints: map[string]string{"finding/v1": plain.Line(f.Key())},
			})
		}
	}
	add(r.Findings, nil)
	add(r.Suppressed, []sarifSuppressed{{"external"}})
	blind := r.NotChecked()
	if n := len(r.Unconfirmed); n > 0 {
		blind = append(slices.Clip(blind), plain.Count(n, "finding")+" unconfirmed: check --wait, or check again later")
	}
	in := sarifInvocation{Successful: len(blind) == 0}
	for _, b := range blind {
		in.Notes = append(in.Notes, sarifNotification{"warning", sarifText{plain.Line(b)}})
	}
	run.Invocations = []sarifInvocation{in}
	return sarifLog{"2.1.0", "https://json.schemastore.org/sarif-2.1.0.json", []sarifRun{run}}
}
