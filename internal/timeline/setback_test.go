package timeline

import (
	"testing"
	"time"
)

func TestSetBackAt(t *testing.T) {
	t.Parallel()
	at := func(minutes int, by ZoneBy) *packed {
		return &packed{at: int64(time.Duration(minutes) * time.Minute), zoneBy: by}
	}
	for name, c := range map[string]struct {
		events []*packed
		line   uint32 // from one; 0: nothing is doubtful
	}{
		"in order":                  {events: []*packed{at(1, ZoneOfFile), at(2, ZoneShown), at(3, ZoneOfFile)}},
		"winter time":               {[]*packed{at(60, ZoneOfFile), at(2, ZoneOfFile), at(3, ZoneOfFile)}, 2},
		"winter time, assumed":      {[]*packed{at(60, ZoneAssumed), at(2, ZoneAssumed)}, 2},
		"half an hour":              {[]*packed{at(60, ZoneOfFile), at(31, ZoneOfFile)}, 2},
		"set back among zoned ones": {[]*packed{at(60, ZoneShown), at(2, ZoneOfFile), at(63, ZoneShown)}, 2},
		"summer time":               {[]*packed{at(1, ZoneShown), at(62, ZoneOfFile), at(63, ZoneOfFile), at(4, ZoneShown)}, 2},
		"another excerpt":           {events: []*packed{at(600, ZoneOfFile), at(2, ZoneOfFile)}},
		"a few minutes":             {events: []*packed{at(10, ZoneOfFile), at(2, ZoneOfFile)}},
		"zoned lines go back":       {events: []*packed{at(60, ZoneShown), at(2, ZoneShown)}},
		"nothing to compare with":   {events: []*packed{at(60, ZoneShown), at(2, ZoneAssumed)}},
	} {
		for i, p := range c.events {
			p.line = uint32(i + 1)
		}
		if line, _ := setBackAt(c.events); line != c.line {
			t.Errorf("%s: doubtful from line %d, want %d", name, line, c.line)
		}
	}
}

func TestOtherZone(t *testing.T) {
	t.Parallel()
	at := func(minutes int, by ZoneBy) *packed {
		return &packed{at: int64(time.Duration(minutes) * time.Minute), zoneBy: by}
	}
	for name, c := range map[string]struct {
		events []*packed
		other  bool
	}{
		"ten hours behind": {[]*packed{at(600, ZoneShown), at(1, ZoneFollowed), at(2, ZoneFollowed), at(603, ZoneShown)}, true},
		"two hours ahead":  {[]*packed{at(1, ZoneOfFile), at(-119, ZoneShown), at(2, ZoneOfFile), at(3, ZoneOfFile), at(-116, ZoneShown)}, true},
		"the same":         {[]*packed{at(1, ZoneShown), at(2, ZoneFollowed), at(3, ZoneShown)}, false},
		"only once":        {[]*packed{at(600, ZoneShown), at(1, ZoneFollowed)}, false},
		"of no known zone": {[]*packed{at(600, ZoneShown), at(1, ZoneAssumed), at(603, ZoneShown)}, false},
		"excerpts":         {[]*packed{at(600, ZoneShown), at(2, ZoneFollowed), at(3, ZoneShown), at(33, ZoneFollowed), at(34, ZoneShown)}, false},
	} {
		if got := otherZone(c.events); got != c.other {
			t.Errorf("%s: %v", name, got)
		}
	}
}
