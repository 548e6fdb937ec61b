package plain

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Age shows how old something is, in one unit.
func Age(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 2*365*24*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	default:
		return fmt.Sprintf("%dy", int(d.Hours()/24/365))
	}
}

// Thousands writes 63145 as 63,145.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count shows a number of things, with the plural of what they are.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "s") {
		return Thousands(n) + " " + what + "es"
	}
	return Thousands(n) + " " + what + "s"
}

// FewOf sorts names and shows the first few of them.
func FewOf(names []string) string {
	const few = 4
	slices.Sort(names)
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:few], ", "), Thousands(len(names)-few))
}

// Size shows a number of bytes.
func Size(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d kB", n>>10)
	default:
		return fmt.Sprintf("%d MB", n>>20)
	}
}

// MinuteLayout is the layout of times in text: with date and zone.
const MinuteLayout = "2006-01-02 15:04 UTC"

// Stamp is a time to the second, with date and zone.
func Stamp(t time.Time) string {
	if _, east := t.Zone(); east == 0 {
		return t.Format("2006-01-02 15:04:05 UTC")
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}
