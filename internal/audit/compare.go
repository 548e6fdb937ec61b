package audit

import (
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// An Earlier is what an earlier check of the whole cluster found.
type Earlier struct {
	Taken     model.Time
	GUID      string                // of the cluster
	Confirmed map[string]bool       // keys of findings, suppressed ones included
	NotJudged map[finding.Code]bool // codes that were not judged everywhere
}

// EarlierOf gives what a report found.
func EarlierOf(r *Report) Earlier {
	e := Earlier{Taken: r.Taken, Confirmed: map[string]bool{}, NotJudged: NotJudged(r.Skipped)}
	if r.View != nil {
		e.GUID = r.View.Snapshot().Meta.GUID
	}
	for _, fs := range [][]finding.Finding{r.Suppressed, r.Findings} {
		for i := range fs {
			e.Confirmed[fs[i].Key()] = true
		}
	}
	return e
}

// NotJudged gives the codes that were not judged everywhere.
func NotJudged(skipped []detect.Skip) map[finding.Code]bool {
	out := map[finding.Code]bool{}
	for _, s := range skipped {
		if !s.NotApplicable {
			out[s.Code] = true
		}
	}
	return out
}

// A Comparison is what differs from an earlier check. Every confirmed finding of either check is in
// one of its lists or counted in Same.
type Comparison struct {
	Taken   model.Time `json:"taken"`             // of the earlier check
	New     []string   `json:"new"`               // confirmed now, and not then
	Unseen  int        `json:"unseen,omitempty"`  // how many of these could not have been found then: their code was not judged
	Gone    []string   `json:"gone"`              // confirmed then, not found now
	Unknown []string   `json:"unknown,omitempty"` // confirmed then; now not confirmed yet, or not judged
	Same    int        `json:"same"`              // confirmed in both, suppressed ones included
}

// Against compares a report of the whole cluster with an earlier one.
func (r *Report) Against(e Earlier) Comparison {
	c := Comparison{Taken: e.Taken, New: []string{}, Gone: []string{}}
	now := EarlierOf(r)
	for i := range r.Findings {
		key := r.Findings[i].Key()
		if e.Confirmed[key] {
			continue
		}
		c.New = append(c.New, key)
		if e.NotJudged[r.Findings[i].Code] {
			c.Unseen++
		}
	}
	unconfirmed := map[string]bool{}
	for i := range r.Unconfirmed {
		unconfirmed[r.Unconfirmed[i].Key()] = true
	}
	for _, key := range slices.Sorted(maps.Keys(e.Confirmed)) {
		k, _ := finding.ParseKey(key)
		_, known := detect.Page(k.Code)
		switch {
		case now.Confirmed[key]:
			c.Same++
		case unconfirmed[key] || now.NotJudged[k.Code] || !known:
			c.Unknown = append(c.Unknown, key)
		default:
			c.Gone = append(c.Gone, key)
		}
	}
	return c
}
