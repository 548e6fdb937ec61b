// Package repair runs the scenarios and repairs them with the product, while requests
// are sent to the healthy pods of the cluster.
package repair
