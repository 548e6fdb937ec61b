package check

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
)

// A report is stored as one object, which etcd takes up to 1.5 MiB of: what is beyond the limit is counted, not listed.
func TestOpenReportIsBounded(t *testing.T) {
	t.Parallel()
	const found = maxResults + 200
	r := &audit.Report{}
	for i := range found {
		f := finding.Finding{Code: "PL1001", Severity: finding.Error, Node: "w17", Summary: "nobody uses it"}
		f.Subject.Name = fmt.Sprintf("10.0.%d.%d", i/256, i%256)
		r.Findings = append(r.Findings, f)
	}
	open := openReportOf(r, []*detect.Detector{detect.ByCode("PL1001")})
	if len(open.Results) != maxResults || open.Configuration.Limits.MaxResults != maxResults {
		t.Errorf("%d results, limit %d", len(open.Results), open.Configuration.Limits.MaxResults)
	}
	if not := open.Metadata.Annotations["plumbline.dev/not-listed"]; open.Summary["fail"] != found || not != strconv.Itoa(found-maxResults) {
		t.Errorf("%v, %s not listed", open.Summary, not)
	}
	if b, err := json.Marshal(open); err != nil || len(b) > 1<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
