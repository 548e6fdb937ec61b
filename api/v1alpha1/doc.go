// Package v1alpha1 has Plumbline's objects: findings of a cluster as the controller sees them, and
// what people tell the controller.
//
// +groupName=plumbline.dev
// +versionName=v1alpha1
// +kubebuilder:validation:Optional
package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Group and Version are those of every type here.
const (
	Group   = "plumbline.dev"
	Version = "v1alpha1"
)

// Time is that of Kubernetes.
type Time = metav1.Time

// Condition is that of Kubernetes.
type Condition = metav1.Condition

// TimeOf is a time in an object.
func TimeOf(t time.Time) Time { return metav1.NewTime(t) }

// NewCondition is true or not since a time.
func NewCondition(kind string, is bool, since Time) Condition {
	c := Condition{Type: kind, Status: metav1.ConditionFalse, LastTransitionTime: since}
	if is {
		c.Status = metav1.ConditionTrue
	}
	return c
}
