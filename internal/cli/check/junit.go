package check

import (
	"encoding/xml"
	"fmt"
	"io"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// A junitSuite is a check as JUnit's XML, which CI systems show: a case for each code. Of a code with findings each is a
// failure; of one that was not judged everywhere, or has only unconfirmed or suppressed
// ones, the case is skipped.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"timestamp,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Failure *junitReason `xml:"failure"`
	Skipped *junitReason `xml:"skipped"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func showJUnit(w io.Writer, r *audit.Report, judged []*detect.Detector, failOn finding.Severity) error {
	suite := junitSuite{Name: "plumbline check", Time: r.Taken.Time().UTC().Format("2006-01-02T15:04:05")}
	by := map[finding.Code][]finding.Finding{}
	for _, f := range r.Findings {
		if f.Severity.Level() >= failOn.Level() {
			by[f.Code] = append(by[f.Code], f)
		}
	}
	of := outcomes(r)
	for _, d := range judged {
		name := fmt.Sprintf("%s %s", d.Code, d.Title)
		for _, f := range by[d.Code] {
			suite.Failures++
			suite.Cases = append(suite.Cases, junitCase{Class: string(d.Code), Name: plain.Line(f.Key()), Failure: &junitReason{plain.Line(f.Summary), string(f.Severity), evidenceText(&f)}})
		}
		switch why := of[d.Code].why; {
		case len(by[d.Code]) > 0:
		case why != "":
			suite.Skipped++
			suite.Cases = append(suite.Cases, junitCase{Class: string(d.Code), Name: name, Skipped: &junitReason{Message: why}})
		default:
			suite.Cases = append(suite.Cases, junitCase{Class: string(d.Code), Name: name})
		}
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// evidenceText is the evidence of a finding, a line each.
func evidenceText(f *finding.Finding) (out string) {
	for _, e := range f.Evidence {
		out += fmt.Sprintf("%s %s: %s\n", e.Ref.Kind, plain.Line(e.Ref.Name), plain.Line(e.Says))
	}
	return out
}
