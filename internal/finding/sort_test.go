package finding

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// A severe finding comes first, and of equal ones the cause before what it causes.
func TestSort(t *testing.T) {
	t.Parallel()
	var fs []Finding
	for _, name := range []string{"PL1009/pool", "PL2010/10.0.0.1", "PL4007/n1", "PL5003/n2", "PL9003/datastore", "PL2010/10.0.0.0"} {
		code, subject, _ := strings.Cut(name, "/")
		fs = append(fs, Finding{Code: Code(code), Severity: Error, Subject: model.Ref{Name: subject}})
	}
	fs[0].Severity = Warning
	Sort(fs)
	var got []string
	for i := range fs {
		got = append(got, fs[i].Key())
	}
	if want := "PL9003/datastore PL5003/n2 PL4007/n1 PL2010/10.0.0.0 PL2010/10.0.0.1 PL1009/pool"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
