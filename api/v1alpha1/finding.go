package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bounds of findings as objects. Scanners have filled etcd with their reports: what does not fit
// is counted, and `kubectl plumbline check` lists all of it.
const (
	MaxFindings = 500 // objects
	MaxSamples  = 20  // of one object
	MaxMessage  = 256 // bytes of a sample's message
	MaxName     = 253 // bytes of a sample's subject
)

// A Finding says that Kubernetes, Calico and the nodes disagree: all findings of one code in one
// pool, node or namespace. Only the controller writes it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=pf,categories=plumbline
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Severity",type=string,JSONPath=`.status.severity`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Count",type=integer,JSONPath=`.status.count`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.firstSeen`
// +kubebuilder:printcolumn:name="What",type=string,JSONPath=`.status.what`
// +kubebuilder:printcolumn:name="First",type=string,priority=1,JSONPath=`.status.samples[0].subject`
type Finding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +kubebuilder:validation:Required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of a finding does not change"
	Spec   FindingSpec   `json:"spec"`
	Status FindingStatus `json:"status,omitzero"`
}

// A FindingSpec names what the findings of one object have in common.
type FindingSpec struct {
	// Code of the findings; `kubectl plumbline explain CODE` describes it. Overflow counts what
	// has no object.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:Pattern=`^(PL[0-9]{4}|Overflow)$`
	Code string `json:"code"`
	// In is what the findings belong to.
	// +kubebuilder:validation:Required
	In FindingGroup `json:"in"`
}

// A FindingGroup is what findings are counted by.
type FindingGroup struct {
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:Enum=Pool;Node;Namespace;Cluster
	Kind string `json:"kind"`
	// Name of the pool, node or namespace; empty for Cluster.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// A FindingStatus is what the controller's leader saw.
type FindingStatus struct {
	// State in one word: the conditions say more.
	// +kubebuilder:validation:Enum=Confirmed;Suppressed;NotChecked;Resolved
	State string `json:"state,omitempty"`
	// +kubebuilder:validation:Enum=info;warning;error
	Severity string `json:"severity,omitempty"`
	// What the code means.
	// +kubebuilder:validation:MaxLength=256
	What string `json:"what,omitempty"`
	// Count of confirmed findings; exact, although only some are listed as samples.
	// +kubebuilder:validation:Minimum=0
	Count int64 `json:"count"`
	// Suppressed is how many more are suppressed.
	// +kubebuilder:validation:Minimum=0
	Suppressed int64 `json:"suppressed,omitempty"`
	// NotChecked is how many of Count were confirmed, and could not be read since.
	// +kubebuilder:validation:Minimum=0
	NotChecked int64 `json:"notChecked,omitempty"`
	// Samples are the first of them, by name.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Samples []FindingSample `json:"samples,omitempty"`
	// FirstSeen is since when the oldest is known to have lasted.
	FirstSeen metav1.Time `json:"firstSeen,omitzero"`
	// LastSeen is when they were last seen, to ten minutes.
	LastSeen metav1.Time `json:"lastSeen,omitzero"`
	// ResolvedAt is when none was found any more. The object is deleted a day later.
	ResolvedAt metav1.Time `json:"resolvedAt,omitzero"`
	// Show is the command that lists all of them.
	// +kubebuilder:validation:MaxLength=512
	Show string `json:"show,omitempty"`
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// A FindingSample is one finding.
type FindingSample struct {
	// Subject of the finding as `kubectl plumbline explain CODE/SUBJECT` takes it.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MaxLength=253
	Subject string `json:"subject"`
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// Node on which it is, if it is on one.
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// Since when it is known to have lasted.
	Since metav1.Time `json:"since,omitzero"`
}

// A FindingList is a list of them.
//
// +kubebuilder:object:root=true
type FindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Finding `json:"items"`
}

// The states of a finding. NotChecked: it was confirmed, and what it is about could not be read
// since.
const (
	StateConfirmed  = "Confirmed"
	StateSuppressed = "Suppressed"
	StateNotChecked = "NotChecked"
	StateResolved   = "Resolved"
)

// Overflow is the code of the object that counts what has none.
const Overflow = "Overflow"

// NewFinding returns one without a status.
func NewFinding(name string, spec FindingSpec) Finding {
	f := Finding{TypeMeta: metav1.TypeMeta{APIVersion: Group + "/" + Version, Kind: "Finding"}, Spec: spec}
	f.Name = name
	return f
}
