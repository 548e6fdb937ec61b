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
		Findings:    []finding.Finding{found("PL1001", "stays", finding.Confirmed), found("PL1001", "goes", finding.Confirmed), found("PL3005", "unseen", finding.Confirmed), found("PL1001", "settles", finding.Confirmed)},
		Unconfirmed: []finding.Finding{found("PL1002", "confirmed-since", finding.Unconfirmed), found("PL1002", "passed", finding.Unconfirmed)},
		Suppressed:  []finding.Finding{found("PL1009", "accepted", finding.Confirmed)},
	}
	now := &Report{
		Findings:    []finding.Finding{found("PL1001", "stays", finding.Confirmed), found("PL2010", "new", finding.Confirmed), found("PL1002", "confirmed-since", finding.Confirmed), found("PL1009", "accepted", finding.Confirmed)},
		Unconfirmed: []finding.Finding{found("PL1001", "settles", finding.Unconfirmed), found("PL2001", "not-yet", finding.Unconfirmed)},
		Skipped:     []detect.Skip{{Code: "PL3005", OutOfScope: true}, {Code: "PL1001", NotApplicable: true}},
	}
	c := now.Against(EarlierOf(then))
	if got, want := fmt.Sprint(c.New, c.Gone, c.Unknown, c.Same), "[PL2010/new] [PL1001/goes] [PL3005/unseen] 4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if c := then.Against(EarlierOf(then)); len(c.New)+len(c.Gone)+len(c.Unknown) > 0 || c.Same != 4 {
		t.Errorf("%+v", c)
	}
}
