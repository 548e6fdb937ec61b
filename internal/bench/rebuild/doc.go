// Package rebuild rebuilds a ledger of thousands of blocks with the program that people run,
// and measures it. It holds tests only; they need the lab and are built with the tag e2e.
package rebuild
