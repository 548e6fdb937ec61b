package internal_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestSeatsAreKept: a priority level that lends every seat has none while it is idle, and gets
// one at the API server's next share-out. The first token of a check would wait for that up to
// ten seconds, longer than an agent asks, and the node would be called silent.
func TestSeatsAreKept(t *testing.T) {
	lends := regexp.MustCompile(`lendablePercent: *(\d+)`)
	for _, file := range []string{"../charts/plumbline/templates/flow.yaml", "../deploy/agent.yaml", "../deploy/guard.yaml"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := lends.FindAllSubmatch(b, -1)
		if len(found) == 0 {
			t.Errorf("%s has no priority level", file)
		}
		for _, m := range found {
			if percent, err := strconv.Atoi(string(m[1])); err != nil || percent > 80 {
				t.Errorf("%s lends %s %% of its seats", file, m[1])
			}
		}
	}
}
