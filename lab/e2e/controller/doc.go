// Package controller runs plumbline-controller in the lab: what it finds becomes objects and Events,
// and it changes nothing else.
package controller
