package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaxSuppressions is how many the controller honours: the first by name.
const MaxSuppressions = 200

// A Suppression hides findings that are known and accepted, until it expires. They are still
// judged, and counted as suppressed.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=psup,categories=plumbline
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Code",type=string,JSONPath=`.spec.code`
// +kubebuilder:printcolumn:name="Subject",type=string,JSONPath=`.spec.subject`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.spec.expires`
// +kubebuilder:printcolumn:name="Owner",type=string,JSONPath=`.spec.owner`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.spec.reason`
type Suppression struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +kubebuilder:validation:Required
	Spec   SuppressionSpec   `json:"spec"`
	Status SuppressionStatus `json:"status,omitzero"`
}

// A SuppressionSpec says which findings are accepted, by whom and for how long.
type SuppressionSpec struct {
	// Code of the findings.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:Pattern=`^PL[0-9]{4}$`
	Code string `json:"code"`
	// Subject of the findings, as `kubectl plumbline check` shows it; * stands for any part of a name without /, and alone for all of them.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Subject string `json:"subject"`
	// Reason why they are accepted.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason"`
	// Owner is who accepted them, and is asked when it has expired.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Owner string `json:"owner"`
	// Expires is at most a year from now.
	// +kubebuilder:validation:Required
	Expires metav1.Time `json:"expires"`
}

// A SuppressionStatus is what the controller makes of it.
type SuppressionStatus struct {
	// +kubebuilder:validation:Enum=Active;Expired;Refused
	State string `json:"state,omitempty"`
	// Message says why it is refused.
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}

// The states of a suppression. Refused: it hides nothing, as its message says.
const (
	SuppressionActive  = "Active"
	SuppressionExpired = "Expired"
	SuppressionRefused = "Refused"
)

// A SuppressionList is a list of them.
//
// +kubebuilder:object:root=true
type SuppressionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Suppression `json:"items"`
}
