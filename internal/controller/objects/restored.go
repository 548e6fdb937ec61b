package objects

import (
	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Restored are the restores of datastores that an earlier leader noticed: it alone knew how far they had come.
func Restored(all []v1alpha1.Finding) (out []model.Restored) {
	for i := range all {
		o := &all[i]
		if finding.Code(o.Spec.Code) != finding.PL9006 || o.Name != nameOf(finding.PL9006, o.Spec.In) || o.Status.State == "" || o.Status.State == v1alpha1.StateResolved {
			continue
		}
		for _, s := range o.Status.Samples {
			if s.Subject == model.StoreKubernetes || s.Subject == model.StoreCalico {
				out = append(out, model.Restored{Store: s.Subject, Since: model.At(s.Since.Time)})
			}
		}
	}
	return out
}
