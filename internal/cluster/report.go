package cluster

import (
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A CheckReport is the document of a check. Its lists are never null.
type CheckReport struct {
	APIVersion  string            `json:"apiVersion"`
	Kind        string            `json:"kind"`
	Cluster     Summary           `json:"cluster"`
	Taken       model.Time        `json:"taken"`
	Findings    []NamedFinding    `json:"findings"`
	Unconfirmed []NamedFinding    `json:"unconfirmed"`
	Suppressed  []NamedFinding    `json:"suppressed"`
	NotJudged   []detect.Skip     `json:"notJudged"`
	NotChecked  []model.Coverage  `json:"notChecked"`
	Headlines   []string          `json:"headlines"`           // a line for each code that affects too many objects
	Pattern     *audit.Pattern    `json:"pattern,omitempty"`   // that most began at one time
	Predating   *audit.Predating  `json:"predating,omitempty"` // that most is older than the kubelet of its node
	Against     *audit.Comparison `json:"against,omitempty"`   // what differs from the check that --against names
}

// A Summary says which cluster was checked.
type Summary struct {
	GUID         string `json:"guid"`         // of Calico's ClusterInformation; empty if there is none
	Kubernetes   string `json:"kubernetes"`   // version of the API server
	Calico       string `json:"calico"`       // version, as Calico has recorded it
	Datastore    string `json:"datastore"`    // of Calico: kdd or etcd
	DetectedFrom string `json:"detectedFrom"` // what shows what Calico does in this cluster
}

// A NamedFinding carries the name by which it is asked for.
type NamedFinding struct {
	Name string `json:"name"` // CODE/SUBJECT, as explain and plan take it
	finding.Finding
}

// ReportOf gives the document of a check.
func ReportOf(r *audit.Report) CheckReport {
	info := r.View.Info()
	return CheckReport{
		APIVersion: APIVersion, Kind: "CheckReport", Taken: r.Taken,
		Cluster: Summary{
			GUID: r.View.Snapshot().Meta.GUID, Kubernetes: info.Kubernetes, Calico: info.Calico, Datastore: info.Datastore, DetectedFrom: r.Calico.Why,
		},
		Findings: named(r.Findings), Unconfirmed: named(r.Unconfirmed), Suppressed: named(r.Suppressed),
		NotJudged: append([]detect.Skip{}, r.Skipped...), NotChecked: append([]model.Coverage{}, r.Gaps...), Headlines: append([]string{}, r.MassChanges...),
		Pattern: r.Pattern(), Predating: r.Predating(),
	}
}

func named(fs []finding.Finding) []NamedFinding {
	out := make([]NamedFinding, 0, len(fs))
	for _, f := range fs {
		out = append(out, NamedFinding{f.Key(), f})
	}
	return out
}
