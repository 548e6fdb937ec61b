package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bounds of repair policies.
const (
	MaxPolicies  = 10 // that the controller follows: the first by name
	MaxDecisions = 20 // that a policy's status lists
)

// A RepairPolicy says which findings the controller would repair by itself. It never does: in mode Shadow it writes down
// what it would have done, and later whether that was right, by what happened to the address or handle.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=prp,categories=plumbline
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Open",type=integer,JSONPath=`.status.open`
// +kubebuilder:printcolumn:name="Right",type=integer,JSONPath=`.status.right`
// +kubebuilder:printcolumn:name="Wrong",type=integer,JSONPath=`.status.wrong`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.message`
type RepairPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +kubebuilder:validation:Required
	Spec   RepairPolicySpec   `json:"spec"`
	Status RepairPolicyStatus `json:"status,omitzero"`
}

// A RepairPolicySpec says what is decided.
type RepairPolicySpec struct {
	// Mode is Off, or Shadow: decide, write nothing, and see later whether it was right.
	// +kubebuilder:validation:Enum=Off;Shadow
	// +kubebuilder:default=Shadow
	Mode string `json:"mode,omitempty"`
	// Codes of the findings: those whose repair only removes what nobody uses.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:Enum=PL1001;PL1006
	// +listType=set
	Codes []string `json:"codes"`
	// MinAgeSeconds is how long a finding must have lasted before it is decided about, beside the time after which it is
	// confirmed.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2592000
	MinAgeSeconds int64 `json:"minAgeSeconds,omitempty"`
}

// A RepairPolicyStatus is what the controller's leader decided, and how that turned out.
type RepairPolicyStatus struct {
	// State in one word. Waiting: nothing is decided now, as the message says.
	// +kubebuilder:validation:Enum=Shadow;Off;Waiting;Refused
	State string `json:"state,omitempty"`
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// Open is how many decisions are not scored yet.
	// +kubebuilder:validation:Minimum=0
	Open int64 `json:"open"`
	// Right is how many of all decisions turned out right: somebody else removed the same.
	// +kubebuilder:validation:Minimum=0
	Right int64 `json:"right"`
	// Wrong is how many turned out wrong: it was in use, or came into use.
	// +kubebuilder:validation:Minimum=0
	Wrong int64 `json:"wrong"`
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=code
	Codes []ShadowScore `json:"codes,omitempty"`
	// Recent are the last decisions that were scored, the newest first.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Recent []ShadowDecision `json:"recent,omitempty"`
}

// A ShadowScore counts the decisions about one code.
type ShadowScore struct {
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:Pattern=`^PL[0-9]{4}$`
	Code string `json:"code"`
	// +kubebuilder:validation:Minimum=0
	Open int64 `json:"open"`
	// +kubebuilder:validation:Minimum=0
	Right int64 `json:"right"`
	// +kubebuilder:validation:Minimum=0
	Wrong int64 `json:"wrong"`
}

// A ShadowDecision is one that was scored.
type ShadowDecision struct {
	// Finding is CODE/SUBJECT.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MaxLength=253
	Finding string `json:"finding"`
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:Enum=Right;Wrong
	Outcome string `json:"outcome"`
	// Why it is right or wrong.
	// +kubebuilder:validation:MaxLength=256
	Why string `json:"why,omitempty"`
	// Decided is when the controller would have repaired it.
	Decided metav1.Time `json:"decided,omitzero"`
	// Scored is when it was known.
	Scored metav1.Time `json:"scored,omitzero"`
}

// The modes and states of a policy, and the outcomes of a decision.
const (
	ModeOff       = "Off"
	ModeShadow    = "Shadow"
	PolicyWaits   = "Waiting"
	PolicyRefused = "Refused"
	OutcomeRight  = "Right"
	OutcomeWrong  = "Wrong"
)

// A RepairPolicyList is a list of them.
//
// +kubebuilder:object:root=true
type RepairPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []RepairPolicy `json:"items"`
}
