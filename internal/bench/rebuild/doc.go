// Package rebuild measures a rebuild of IPAM with thousands of blocks by the real
// program. It has tests only; they need the lab and are built with the tag e2e.
package rebuild
