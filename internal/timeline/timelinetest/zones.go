package timelinetest

import (
	"regexp"
	"time"
)

// A Zone gives the seconds east of UTC at a time.
type Zone func(time.Time) int

// Fixed is a zone that never changes.
func Fixed(hours float64) Zone { return func(time.Time) int { return int(hours * 3600) } }

var (
	logrusStamp  = regexp.MustCompile(`time="(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)Z"`)
	bracketStamp = regexp.MustCompile(`(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+ \[)`)
	klogStamps   = regexp.MustCompile(`(?m)^([IWEF])(\d{4} \d\d:\d\d:\d\d)`)
	goStamps     = regexp.MustCompile(`(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \+0000 UTC( <nil>)`)
)

// Written gives a log of a process on a node as one in another zone writes it.
func (z Zone) Written(text string) string {
	local := func(s, layout string) (time.Time, string) {
		t, err := time.Parse(layout, s)
		if err != nil {
			panic(err)
		}
		if t.Year() == 0 {
			t = t.AddDate(2026, 0, 0)
		}
		east := z(t)
		at := t.In(time.FixedZone("XST", east))
		return at, at.Format(layout)
	}
	replace := func(re *regexp.Regexp, with func(m []string) string) {
		text = re.ReplaceAllStringFunc(text, func(s string) string { return with(re.FindStringSubmatch(s)) })
	}
	replace(logrusStamp, func(m []string) string {
		at, _ := local(m[1], "2006-01-02T15:04:05.999999999")
		return `time="` + at.Format("2006-01-02T15:04:05.000000000Z07:00") + `"`
	})
	replace(bracketStamp, func(m []string) string { _, s := local(m[1], time.DateTime); return s + m[2] })
	replace(klogStamps, func(m []string) string { _, s := local(m[2], "0102 15:04:05"); return m[1] + s })
	replace(goStamps, func(m []string) string {
		at, s := local(m[1], time.DateTime)
		return s + at.Format(" -0700 MST") + m[2]
	})
	return text
}
