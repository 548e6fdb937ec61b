package daemon

import (
	"math/bits"

	"plumbline.dev/plumbline/internal/guard"
)

const (
	exact   = 16 // milliseconds below this are counted exactly
	steps   = 8  // classes per power of two above: a quantile is at most an eighth too high
	buckets = exact + 24*steps
)

// times are the durations of calls, in a bounded number of classes.
type times struct {
	Count   int         `json:"count"`
	Failed  int         `json:"failed"`
	Classes map[int]int `json:"classes"` // how many, by class
}

func (t *times) add(millis int64, failed bool) {
	if t.Classes == nil {
		t.Classes = map[int]int{}
	}
	t.Count++
	if failed {
		t.Failed++
	}
	t.Classes[class(millis)]++
}

// class returns the class of a duration.
func class(millis int64) int {
	if millis < exact {
		return int(max(0, millis))
	}
	power := bits.Len64(uint64(millis)) - 1 // at least 4
	step := int(millis>>(power-3)) & (steps - 1)
	return min(exact+(power-4)*steps+step, buckets-1)
}

// longest returns the longest duration of a class.
func longest(class int) int64 {
	if class < exact {
		return int64(class)
	}
	power, step := (class-exact)/steps+4, (class-exact)%steps
	return int64(steps+step+1)<<(power-3) - 1
}

// quantile returns the duration that percent of the calls did not exceed.
func (t *times) quantile(percent int) int64 {
	all := 0
	for _, n := range t.Classes {
		all += n
	}
	need := (all*percent + 99) / 100
	for c := range buckets {
		if need -= t.Classes[c]; need <= 0 && all > 0 {
			return longest(c)
		}
	}
	return 0
}

func (t *times) told() guard.Times {
	return guard.Times{Count: t.Count, Failed: t.Failed, P50: t.quantile(50), P99: t.quantile(99)}
}
