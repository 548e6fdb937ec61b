// Package screens runs the commands that README and docs show, in a lab with an incident, and
// writes what they print to docs/screens. Only tests are here.
package screens
