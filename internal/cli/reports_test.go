package cli_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
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
	var open struct {
		Summary  map[string]int
		Metadata struct{ Annotations map[string]string }
		Results  []struct{ Policy, Rule, Result, Message string }
	}
	o := run(t, 0, "check", "-o", "openreports", "--bundle", file)
	if err := json.Unmarshal([]byte(o.out), &open); err != nil || strings.Contains(o.out, "\x1b") {
		t.Fatalf("%v\n%s", err, o.out)
	}
	is := map[string]int{}
	for _, x := range open.Results {
		is[x.Result]++
	}
	if is["fail"]+is["warn"] != len(names) || is["error"]+is["skip"] == 0 || is["skip"] != open.Summary["skip"] || is["fail"] != open.Summary["fail"] || is["error"] != open.Summary["error"] || is["pass"] != 0 || open.Metadata.Annotations["plumbline.dev/not-listed"] != "0" {
		t.Errorf("%d findings; %v, %v", len(names), is, open.Summary)
	}
	if passed := open.Summary["pass"]; passed == 0 || passed+is["error"]+is["skip"]+len(failedCodes(names)) < len(detect.All) {
		t.Errorf("%d passed, %v: not every code has an outcome", passed, is)
	}
	for i, res := range one.Results {
		if !strings.HasPrefix(res.PartialFingerprints["finding/v1"], res.RuleID+"/") || res.Level == "" {
			t.Errorf("%d: %+v", i, res)
		}
	}
}

// failedCodes are the codes of findings, each once.
func failedCodes(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		code, _, _ := strings.Cut(n, "/")
		out[code] = true
	}
	return out
}

// A code has passed only if it was asked for, judged everywhere, and nothing was found, unconfirmed or suppressed.
func TestPassed(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL2010", nil)
	passed := func(args ...string) (n int, out string) {
		r := run(t, 0, append([]string{"check", "-o", "openreports"}, args...)...)
		var open struct{ Summary map[string]int }
		if err := json.Unmarshal([]byte(r.out), &open); err != nil {
			t.Fatalf("%v: %s%s", err, r.out, r.err)
		}
		return open.Summary["pass"], r.out
	}
	if n, _ := passed("--bundle", file, "--code", "PL1001"); n > 1 {
		t.Errorf("one code was asked for, %d passed", n)
	}
	if n, out := passed("--bundle", file); n+strings.Count(out, "no agents installed") > len(detect.All) || !strings.Contains(out, "no agents installed") {
		t.Errorf("without agents %d passed:\n%s", n, out)
	}
	r := run(t, 0, "check", "-o", "junit", "--bundle", file, "--suppress", "testdata/known.yaml")
	if strings.Contains(r.err, "suppress") {
		t.Fatal(r.err)
	}
	if i := strings.Index(r.out, `name="PL2010 `); i < 0 || !strings.Contains(r.out[i:min(len(r.out), i+300)], "suppressed") {
		t.Errorf("a suppressed finding passes:\n%s", r.out)
	}
	if r := run(t, 0, "check", "-o", "junit", "--bundle", file, "--against", file); r.code != 2 || !strings.Contains(r.err, "--against: not with -o junit") {
		t.Error(r)
	}
}
