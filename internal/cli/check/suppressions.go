package check

import (
	"fmt"
	"io"
	"os"
	"time"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
)

const maxSuppressions = 1 << 20

// readSuppressions reads a file like
//
//	apiVersion: plumbline.dev/v1alpha1
//	suppressions:
//	- code: PL1005
//	  subject: 10.9.0.0/26
//	  reason: left of the old pool, goes with node w3
//	  owner: network-team
//	  expires: 2027-01-31T00:00:00Z
func readSuppressions(path string) ([]audit.Suppression, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxSuppressions))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var doc struct {
		APIVersion   string              `json:"apiVersion"` // optional
		Suppressions []audit.Suppression `json:"suppressions"`
	}
	if err := yaml.UnmarshalStrict(b, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if doc.APIVersion != "" && doc.APIVersion != cluster.APIVersion {
		return nil, fmt.Errorf("read %s: apiVersion %q, supported is %s", path, doc.APIVersion, cluster.APIVersion)
	}
	now := model.At(time.Now()) //nolint:forbidigo // the file is this machine's, and so is its clock
	for i := range doc.Suppressions {
		if s := &doc.Suppressions[i]; s.Valid(now) != nil {
			return nil, fmt.Errorf("%s: suppression %s/%s: %w", path, s.Code, s.Subject, s.Valid(now))
		}
	}
	return doc.Suppressions, nil
}
