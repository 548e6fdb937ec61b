package daemon

import (
	"math/bits"

	"plumbline.dev/plumbline/internal/guard"
)

const (
	exact   = 16 // milliseconds that are counted one by one
	steps   = 8  // of each power of two above: no answer is more than an eighth too long
	buckets = exact + 24*steps
)

// Times are how long calls took, in a bounded number of classes.
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

// class is the class of a time.
func class(millis int64) int {
	if millis < exact {
		return int(max(0, millis))
	}
	power := bits.Len64(uint64(millis)) - 1 // 4 at the least
	step := int(millis>>(power-3)) & (steps - 1)
	return min(exact+(power-4)*steps+step, buckets-1)
}

// longest is the longest time of a class.
func longest(class int) int64 {
	if class < exact {
		return int64(class)
	}
	power, step := (class-exact)/steps+4, (class-exact)%steps
	return int64(steps+step+1)<<(power-3) - 1
}

// quantile gives the time that so many of a hundred calls did not exceed.
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
