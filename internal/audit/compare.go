package audit

import (
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// An Earlier is what an earlier check found, confirmed or not, by the key of the finding.
type Earlier struct {
	Taken model.Time
	Found map[string]bool // true: confirmed
}

// EarlierOf gives what a report found.
func EarlierOf(r *Report) Earlier {
	e := Earlier{Taken: r.Taken, Found: map[string]bool{}}
	for _, fs := range [][]finding.Finding{r.Unconfirmed, r.Suppressed, r.Findings} {
		for i := range fs {
			e.Found[fs[i].Key()] = fs[i].State == finding.Confirmed
		}
	}
	return e
}

// A Comparison is what differs from an earlier check. Every confirmed finding of either check is in
// one of its lists or counted in Same.
type Comparison struct {
	Taken   model.Time `json:"taken"`             // of the earlier check
	New     []string   `json:"new"`               // confirmed now, not found then
	Gone    []string   `json:"gone"`              // confirmed then, not found now
	Unknown []string   `json:"unknown,omitempty"` // confirmed then, not judged now
	Same    int        `json:"same"`              // confirmed in one and found in the other
}

// Against compares a report with an earlier check.
func (r *Report) Against(e Earlier) Comparison {
	c := Comparison{Taken: e.Taken, New: []string{}, Gone: []string{}}
	now := EarlierOf(r).Found
	for i := range r.Findings {
		if _, then := e.Found[r.Findings[i].Key()]; !then {
			c.New = append(c.New, r.Findings[i].Key())
		} else {
			c.Same++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.Found)) {
		confirmed, still := now[key]
		switch k, _ := finding.ParseKey(key); {
		case !e.Found[key] || confirmed:
		case still:
			c.Same++
		case r.unjudged(k.Code):
			c.Unknown = append(c.Unknown, key)
		default:
			c.Gone = append(c.Gone, key)
		}
	}
	return c
}

// unjudged reports whether a code was not judged everywhere: then nothing is said to be gone.
func (r *Report) unjudged(code finding.Code) bool {
	for _, s := range r.Skipped {
		if s.Code == code && !s.NotApplicable {
			return true
		}
	}
	return false
}
