package main

import (
	"errors"
	"strings"
	"testing"
)

func TestLoadRefusesUsageErrorsWithoutALab(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--faults nope=1", "--faults leaked", "--seed -1", "--nodes many", "unexpected"} {
		var out strings.Builder
		err := run(t.Context(), env{args: append([]string{"load"}, strings.Fields(args)...), stdout: &out})
		if !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), env{args: []string{"load", "--help"}, stdout: &out}); err != nil || !strings.Contains(out.String(), "gone-node-affinity") {
		t.Errorf("help: %v, %s", err, out.String())
	}
}
