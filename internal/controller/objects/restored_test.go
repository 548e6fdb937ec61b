package objects

import (
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// TestRestored: the next leader is told which datastores were restored, and when, until that is resolved.
func TestRestored(t *testing.T) {
	t.Parallel()
	back := finding.Finding{Code: finding.PL9006, Severity: finding.Error, Class: finding.Now, Subject: model.Ref{Kind: model.KindCluster, Name: model.StoreCalico}, State: finding.Confirmed, Since: noon - 60}
	b := board()
	b.Take(report(noon, back, leaked("10.0.0.1")))
	if got, want := Restored(b.Objects()), []model.Restored{{Store: model.StoreCalico, Since: noon - 60}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	b.Take(report(noon + 60))
	if got := Restored(b.Objects()); len(got) != 0 {
		t.Errorf("resolved, and %+v", got)
	}
}
