package controller

import (
	"maps"
	"os"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// The alert PoolExhausted fires where a pool has 0 free addresses. So one for which nobody waits has no such number, and what
// IPReservations keep is not free.
func TestFreeAddressesOfPools(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]map[string]float64{ // by pool
		"20-alert-disabled-pool":   {"new": 65536},
		"21-alert-lb-pool-of-one":  {"v4": 65533},
		"09-fn-pool-reservation":   {"v4": 0},
		"04-control-strict-full":   {"a": 183},
		"08-fn-strict-reservation": {"a": 183}, // 8 of the block are reserved instead of allocated
		"67-control-v6-full":       {"v4": 65475, "v6": 3},
	} {
		text, err := os.ReadFile("../detect/testdata/truth/" + file + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		c, err := snapshotio.ParseText(text, "findings", "skipped")
		if err != nil {
			t.Fatal(err)
		}
		free := map[string]float64{}
		for _, n := range newNumbers().poolNumbers(&audit.Report{View: model.Seal(c.Snapshot)}) {
			if n.Metric == poolUse && n.Labels[1] == "free" {
				free[n.Labels[0]] = n.Value
			}
		}
		if !maps.Equal(free, want) {
			t.Errorf("%s: %v, want %v", file, free, want)
		}
	}
}
