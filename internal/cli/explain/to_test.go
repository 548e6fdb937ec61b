package explain

import "testing"

func TestWayVerdict(t *testing.T) {
	t.Parallel()
	for want, hops := range map[string][]hop{
		"no break found":   {{At: "a"}, {At: "b"}},
		"breaks at b: why": {{At: "a", Unread: "node state"}, {At: "b", Broken: "why"}, {At: "c", Broken: "later"}},
		"no break found in what was checked; 1 of 2 steps were not, or not completely": {{At: "a"}, {At: "b", Unread: "firewall rules"}},
	} {
		if got := wayVerdict(hops); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
