package model

import "strings"

// Prefixes of Plumbline's own handles. A hold never has a handle object; an unknown one needs none.
const (
	HoldPrefix    = "plumbline-hold."    // an address between two writes of one repair
	UnknownPrefix = "plumbline-unknown." // an address of a broken block of which nobody knows who uses it
)

// Hold reports whether a repair holds the allocation, or held it when it was interrupted.
func (a *Attribute) Hold() bool { return strings.HasPrefix(a.Handle, HoldPrefix) }

// OwnHandle reports whether a handle is one of Plumbline's own.
func OwnHandle(handle string) bool {
	return strings.HasPrefix(handle, HoldPrefix) || strings.HasPrefix(handle, UnknownPrefix)
}
