package executetest

import "fmt"

// String is for the trace of a run.
func (c write) String() string {
	hand := "they"
	if c.by == plumbline {
		hand = "WE"
	}
	switch {
	case c.after == nil:
		return fmt.Sprintf("%s delete %s", hand, c.ref)
	case c.before == nil:
		return fmt.Sprintf("%s create %s %s", hand, c.ref, c.after.json())
	default:
		return fmt.Sprintf("%s write %s %s", hand, c.ref, c.after.json())
	}
}
