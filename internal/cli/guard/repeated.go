package guard

import (
	"fmt"
	"slices"
	"time"
)

// A repeatedCall stands for several that differ in nothing but their time.
type repeatedCall struct {
	namedCall
	count int
	last  time.Time
}

func (c *repeatedCall) repeated() string {
	if c.count == 1 {
		return ""
	}
	return fmt.Sprintf(" (%s, last %s)", times(c.count), c.last.UTC().Format(callTime))
}

// grouped makes one of calls that follow each other and say the same.
func grouped(calls []namedCall) []repeatedCall {
	var out []repeatedCall
	for _, c := range calls {
		if n := len(out); n > 0 {
			p := &out[n-1]
			if p.Node == c.Node && p.Verb == c.Verb && p.Key == c.Key && p.Rule == c.Rule && p.Code == c.Code && p.Note() == c.Note() && slices.Equal(p.Lost, c.Lost) {
				p.count++
				p.last = c.At
				continue
			}
		}
		out = append(out, repeatedCall{c, 1, c.At})
	}
	return out
}
