//go:build e2e

package bench

import (
	"testing"

	"plumbline.dev/plumbline/lab/e2e/outside"
)

// BenchmarkUpDown measures the start and stop of a lab.
func BenchmarkUpDown(b *testing.B) {
	for name, args := range map[string][]string{
		"control-plane-only": {"--control-plane-only"},
		"3-nodes-kdd":        {"--nodes", "3", "--datastore", "kdd"},
		"3-nodes-etcd":       {"--nodes", "3", "--datastore", "etcd"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				outside.Must(b, append([]string{"up", "--name", "bench"}, args...)...)
				outside.Must(b, "down", "--name", "bench")
			}
		})
	}
}
