package audit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Suppression hides accepted findings until it expires.
type Suppression struct {
	Code    finding.Code `json:"code"`
	Subject string       `json:"subject"` // a glob
	Reason  string       `json:"reason"`
	Owner   string       `json:"owner,omitempty"` // who accepts them
	Expires model.Time   `json:"expires"`
}

// maxSuppression is how far in the future a suppression may expire, so that hidden findings
// are not forgotten.
const maxSuppression = 366 * 24 * time.Hour

// Valid refuses a suppression that hides too much or for too long.
func (s *Suppression) Valid(now model.Time) error {
	switch {
	case s.Code == "" || s.Subject == "":
		return errors.New("it needs code and subject")
	case detect.ByCode(s.Code) == nil:
		return errors.New("there is no such code")
	case s.Reason == "":
		return errors.New("it needs a reason")
	case s.Expires.IsZero():
		return errors.New("it needs an expires date")
	case s.Expires.Sub(now) > maxSuppression:
		return errors.New("it expires in more than a year; choose an earlier date")
	}
	if _, err := path.Match(s.Subject, ""); err != nil {
		return fmt.Errorf("its subject: %w", err)
	}
	return nil
}

func (s *Suppression) hides(code finding.Code, subject string, now model.Time) bool {
	if s.Code != code || s.Expires <= now {
		return false
	}
	ok, err := path.Match(s.Subject, subject)
	return err == nil && (ok || s.Subject == "*")
}

// Suppresses tells that the report hides a finding, or would if it had it.
func (r *Report) Suppresses(code finding.Code, subject string) bool {
	return slices.ContainsFunc(r.Suppressing, func(s Suppression) bool { return s.hides(code, subject, r.Taken) })
}

func suppress(fs []finding.Finding, by []Suppression, now model.Time) (shown, hidden []finding.Finding) {
	of := map[finding.Code][]Suppression{}
	for _, s := range by {
		of[s.Code] = append(of[s.Code], s)
	}
next:
	for i := range fs {
		for _, s := range of[fs[i].Code] {
			if s.hides(fs[i].Code, fs[i].Subject.Name, now) {
				hidden = append(hidden, fs[i])
				continue next
			}
		}
		shown = append(shown, fs[i])
	}
	return shown, hidden
}

// expired gives a finding for each suppression that has expired. It has no detector: it is
// about the user's own file.
func expired(of []Suppression, now model.Time) []finding.Finding {
	var out []finding.Finding
	for _, s := range of {
		if s.Expires <= now {
			subject := model.Ref{Kind: model.KindCluster, Name: string(s.Code) + "/" + s.Subject}
			out = append(out, finding.Finding{
				Code: finding.PL9004, Severity: finding.Info, Subject: subject, Class: finding.Now, State: finding.Confirmed, Since: s.Expires,
				Summary:  "its suppression has expired: " + s.Reason + by(s.Owner),
				Evidence: []finding.Evidence{{Ref: subject, Says: "expired " + s.Expires.String(), Since: s.Expires}},
				About:    []model.Ref{subject},
			})
		}
	}
	return out
}

func by(owner string) string {
	if owner == "" {
		return ""
	}
	return " (" + owner + ")"
}
