package objects

import (
	"fmt"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Accepted gives the suppressions that hold, and those whose status says something else. Expired ones are
// among the first: they are findings of their own.
func Accepted(all []v1alpha1.Suppression, now model.Time) (hold []audit.Suppression, answer []v1alpha1.Suppression) {
	for i, one := range all {
		s := audit.Suppression{
			Code: finding.Code(one.Spec.Code), Subject: one.Spec.Subject, Reason: one.Spec.Reason, Owner: one.Spec.Owner, Expires: model.At(one.Spec.Expires.Time),
		}
		is := v1alpha1.SuppressionStatus{State: v1alpha1.SuppressionActive}
		err := s.Valid(now)
		if i >= v1alpha1.MaxSuppressions {
			err = fmt.Errorf("only the first %d by name hold", v1alpha1.MaxSuppressions)
		}
		switch {
		case err != nil:
			is = v1alpha1.SuppressionStatus{State: v1alpha1.SuppressionRefused, Message: Bounded(err.Error(), v1alpha1.MaxMessage)}
		case s.Expires <= now:
			is.State = v1alpha1.SuppressionExpired
		}
		if is.State != v1alpha1.SuppressionRefused {
			hold = append(hold, s)
		}
		if one.Status != is {
			one.Status = is
			answer = append(answer, one)
		}
	}
	return hold, answer
}
