package audit

import (
	"fmt"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func TestAgainst(t *testing.T) {
	t.Parallel()
	found := func(code finding.Code, name string, state finding.State) finding.Finding {
		return finding.Finding{Code: code, State: state, Subject: model.Ref{Kind: model.KindAddress, Name: name}}
	}
	then := &Report{
		Findings: []finding.Finding{
			found("PL1001", "stays", finding.Confirmed), found("PL1001", "goes", finding.Confirmed), found("PL3005", "unseen", finding.Confirmed),
			found("PL1001", "settles", finding.Confirmed), found("PL1002", "accepted-since", finding.Confirmed), found("PL8888", "of-another-version", finding.Confirmed),
		},
		Unconfirmed: []finding.Finding{found("PL1002", "confirmed-since", finding.Unconfirmed), found("PL1002", "passed", finding.Unconfirmed)},
		Suppressed:  []finding.Finding{found("PL1009", "accepted", finding.Confirmed)},
		Skipped:     []detect.Skip{{Code: "PL2010"}},
	}
	now := &Report{
		Findings:    []finding.Finding{found("PL1001", "stays", finding.Confirmed), found("PL2010", "new", finding.Confirmed), found("PL1002", "confirmed-since", finding.Confirmed), found("PL1009", "accepted", finding.Confirmed)},
		Unconfirmed: []finding.Finding{found("PL1001", "settles", finding.Unconfirmed), found("PL2001", "not-yet", finding.Unconfirmed)},
		Suppressed:  []finding.Finding{found("PL1002", "accepted-since", finding.Confirmed)},
		Skipped:     []detect.Skip{{Code: "PL3005", OutOfScope: true}, {Code: "PL1001", NotApplicable: true}},
	}
	c := now.Against(EarlierOf(then))
	want := "[PL2010/new PL1002/confirmed-since] 1 [PL1001/goes] [PL1001/settles PL3005/unseen PL8888/of-another-version] 3"
	if got := fmt.Sprint(c.New, c.Unseen, c.Gone, c.Unknown, c.Same); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c := then.Against(EarlierOf(then)); len(c.New)+len(c.Gone) > 0 || c.Same != 7 {
		t.Errorf("%+v", c)
	}
}
