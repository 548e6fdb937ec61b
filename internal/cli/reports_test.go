package cli_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// What CI systems read: JUnit has a case for each code, and each finding; SARIF a result for each finding. What was not
// checked is neither passed nor silent.
func TestReports(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL3003", func(s *model.Snapshot) { s.Pods[0].Name += "<&\x1b" })
	names := strings.Fields(run(t, 0, "check", "-o", "name", "--bundle", file).out)
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	}
	r := run(t, 0, "check", "-o", "junit", "--bundle", file, "--fail-on", "info")
	if err := xml.Unmarshal([]byte(r.out), &suite); err != nil || r.code != 1 {
		t.Fatalf("exit %d: %v\n%s", r.code, err, r.out)
	}
	failed, skipped := 0, 0
	for _, c := range suite.Cases {
		if c.Failure != nil {
			failed++
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	if failed != len(names) || failed != suite.Failures || skipped != suite.Skipped || skipped == 0 || suite.Tests != len(suite.Cases) || strings.Contains(r.out, "\x1b") {
		t.Errorf("%d findings; %d failed of %d, %d skipped of %d, %d of %d cases", len(names), failed, suite.Failures, skipped, suite.Skipped, len(suite.Cases), suite.Tests)
	}
	var log struct {
		Version string
		Runs    []struct {
			Invocations []struct {
				ExecutionSuccessful        bool
				ToolExecutionNotifications []struct{}
			}
			Results []struct {
				RuleID              string `json:"ruleId"`
				Level               string
				PartialFingerprints map[string]string
			}
		}
	}
	s := run(t, 0, "check", "-o", "sarif", "--bundle", file)
	if err := json.Unmarshal([]byte(s.out), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v\n%s", err, s.out)
	}
	one := log.Runs[0]
	if len(one.Results) != len(names) || one.Invocations[0].ExecutionSuccessful || len(one.Invocations[0].ToolExecutionNotifications) == 0 {
		t.Errorf("%d results of %d findings, %+v", len(one.Results), len(names), one.Invocations)
	}
	for i, res := range one.Results {
		if !strings.HasPrefix(res.PartialFingerprints["finding/v1"], res.RuleID+"/") || res.Level == "" {
			t.Errorf("%d: %+v", i, res)
		}
	}
}
