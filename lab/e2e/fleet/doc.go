// Package fleet checks several clusters at once: labs of which only the control plane runs, each in a network of its own.
// Only tests are here.
package fleet
