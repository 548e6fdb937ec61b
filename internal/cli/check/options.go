package check

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
)

// auditOptions turns flags into what audit is asked for.
func auditOptions(f flags) (o audit.Options, err error) {
	o = audit.Options{Settle: f.settle}
	if o.Detectors, err = detectorsOf(f.codes); err != nil {
		return o, err
	}
	if finding.Severity(f.failOn).Level() < 0 {
		return o, fmt.Errorf("--fail-on %s: want info, warning or error", f.failOn)
	}
	if err := sourcesKnown(f.require); err != nil {
		return o, err
	}
	if f.suppress != "" {
		accepted, err := readSuppressions(f.suppress)
		if err != nil {
			return o, err
		}
		o.Suppress = func() []audit.Suppression { return accepted }
	}
	if f.namespace != "" || f.node != "" {
		o.Keep = func(x *finding.Finding) bool {
			return (f.namespace == "" || x.InNamespace(f.namespace)) && (f.node == "" || x.Node == f.node)
		}
	}
	return o, nil
}

// detectorsOf gives the detectors of codes; of none, all.
func detectorsOf(codes []string) ([]*detect.Detector, error) {
	if len(codes) == 0 {
		return detect.All, nil
	}
	var out []*detect.Detector
	for _, c := range codes {
		d := detect.ByCode(finding.Code(strings.ToUpper(c)))
		if d == nil {
			return nil, fmt.Errorf("--code %s: no such code", c)
		}
		out = append(out, d)
	}
	return out, nil
}

// sourcesKnown checks the names of sources after --require.
func sourcesKnown(names []string) error {
	for _, b := range names {
		if now := map[string]string{"intent": "kubernetes", "ledger": "calico", "fact": "node"}[b]; now != "" {
			return fmt.Errorf("--require %s: renamed, use %s", b, now)
		}
		if b != "kubernetes" && b != "calico" && b != "node" {
			return fmt.Errorf("--require %s: want kubernetes, calico or node", b)
		}
	}
	return nil
}
