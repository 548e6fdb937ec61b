package loggen

import (
	"math"
	"strings"
	"time"
)

// A line is a recorded line, split into pieces.
type line struct {
	text   string // as recorded
	pieces []piece
	at     int64 // when it was written, as local time of its clock
}

// A piece is fixed text, a value that is replaced, or a timestamp that is moved.
type piece struct {
	text string
	slot int // −1 if none
	at   int64
	look *layout
}

// compile splits the lines into pieces.
func (t *template) compile(values []slot, raw [][]string) {
	t.slots = slotsOf(values, raw)
	year := yearOf(raw)
	t.base = math.MaxInt64
	last := int64(math.MinInt64)
	for i, lines := range raw {
		at := int64(math.MinInt64)
		for _, text := range lines {
			l := line{text: text, at: math.MinInt64}
			l.take(text, t.slots, year)
			if l.at = max(l.at, at); l.at == math.MinInt64 { // no timestamp: that of the line before
				l.at = at
			}
			at = l.at
			t.parts[i].lines = append(t.parts[i].lines, l)
			t.base, last = min(t.base, at), max(last, at)
			if strings.Contains(text, "+08:00") || strings.Contains(text, "+0800 CST") {
				t.zone = int64(8 * time.Hour)
			}
		}
	}
	t.span = last - t.base
}

// take cuts a line into pieces, and finds when it was written: an audit line when the
// request was done, others by their first stamp.
func (l *line) take(text string, slots []slot, year int) {
	from := 0
	add := func(to int) {
		if to > from {
			l.pieces = append(l.pieces, piece{text: text[from:to], slot: -1})
		}
	}
	for i := 0; i < len(text); {
		if n, at, look := stampAt(text, i, year); n > 0 {
			add(i)
			l.pieces = append(l.pieces, piece{slot: -1, at: at, look: look})
			audited := strings.HasSuffix(text[:i], `"stageTimestamp":"`)
			if l.at == math.MinInt64 && (text[0] != '{' || audited) {
				l.at = at
			}
			i += n
			from = i
			continue
		}
		if n, slot := slotAt(text, i, slots); n > 0 {
			add(i)
			l.pieces = append(l.pieces, piece{slot: slot})
			i += n
			from = i
			continue
		}
		i++
	}
	add(len(text))
}

// slotAt finds the value at a position, as a separate word.
func slotAt(text string, i int, slots []slot) (length, slot int) {
	for n := range slots {
		v := slots[n].value
		if !strings.HasPrefix(text[i:], v) || i > 0 && wordy(text[i-1]) && wordy(v[0]) {
			continue
		}
		end := i + len(v)
		if end < len(text) && wordy(text[end]) && wordy(v[len(v)-1]) {
			continue
		}
		if slots[n].form == plain && inName(text, i, end, sort(slots[n].role)) {
			continue
		}
		return len(v), n
	}
	return 0, 0
}

// inName reports whether a pod's, namespace's or node's name is only a part of a longer name
// here, or, as pods of the lab are called next, an ordinary word of a sentence.
func inName(text string, i, end int, of string) bool {
	before, after := byte(' '), byte(' ')
	if i > 0 {
		before = text[i-1]
	}
	if end < len(text) {
		after = text[end]
	}
	switch of {
	case "pod":
		return before == '-' || after == '-' || before == ' ' && after == ' ' && !strings.ContainsRune(text[i:end], '-')
	case "namespace":
		return before == '-' || after == '-'
	case "node", "other":
		return before == '-'
	default:
		return false
	}
}

func wordy(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
