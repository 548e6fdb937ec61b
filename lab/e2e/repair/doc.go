// Package repair plays the incidents and has the product end them, on a cluster whose
// healthy pods are asked all the while.
package repair
