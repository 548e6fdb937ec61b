package model

import (
	"slices"
	"strings"
)

// NodeBody is what a store returns for a node.
type NodeBody struct {
	Ready  bool     `json:"ready"`
	BootID string   `json:"bootID"`
	Taints []string `json:"taints,omitempty"` // KEY:EFFECT
}

// OutOfServiceTaint is the taint that the user puts on a node that is down permanently.
const OutOfServiceTaint = "node.kubernetes.io/out-of-service"

// OutOfService reports that a node with these taints is down permanently, as the user says.
func OutOfService(taints []string) bool {
	return slices.ContainsFunc(taints, func(t string) bool { return strings.HasPrefix(t, OutOfServiceTaint+":") })
}
