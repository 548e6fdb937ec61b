package objects

import (
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/model"
)

// TestAccepted: what is refused hides nothing, and each is answered until its status says what it is.
func TestAccepted(t *testing.T) {
	t.Parallel()
	now := model.At(time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC))
	one := func(subject string, expires model.Time, state string) v1alpha1.Suppression {
		return v1alpha1.Suppression{
			Spec:   v1alpha1.SuppressionSpec{Code: "PL1001", Subject: subject, Reason: "known", Owner: "team", Expires: timeOf(expires)},
			Status: v1alpha1.SuppressionStatus{State: state},
		}
	}
	day := 24 * time.Hour
	all := []v1alpha1.Suppression{
		one("new", now.Add(day), ""), one("as-before", now.Add(day), v1alpha1.SuppressionActive), one("past", now.Add(-day), v1alpha1.SuppressionActive),
		one("far", now.Add(400*day), v1alpha1.SuppressionActive), one("[", now.Add(day), ""), one("never", 0, ""),
	}
	hold, answer := Accepted(all, now)
	var holds, answers []string
	for _, s := range hold {
		holds = append(holds, s.Subject)
	}
	for _, s := range answer {
		answers = append(answers, s.Spec.Subject+" "+s.Status.State)
	}
	if got := strings.Join(holds, ","); got != "new,as-before,past" {
		t.Errorf("%s hold", got)
	}
	if got := strings.Join(answers, ","); got != "new Active,past Expired,far Refused,[ Refused,never Refused" {
		t.Errorf("answered: %s", got)
	}
	if far := answer[2].Status.Message; !strings.Contains(far, "more than a year") {
		t.Errorf("refused: %q", far)
	}
	if all[0].Status.State != "" {
		t.Error("what was read is changed")
	}
	if _, again := Accepted(answer, now); len(again) != 0 {
		t.Errorf("answered twice: %+v", again)
	}
}
