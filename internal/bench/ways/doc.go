// Package ways measures what the ways between the nodes of a large cluster cost: agents that tell sums
// of them, and a checker that compares the sums with Calico's records.
package ways
