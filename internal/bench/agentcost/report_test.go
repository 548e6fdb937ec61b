//go:build e2e

package agentcost

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A report is the table that is printed at the end.
type report struct{ rows [][]string }

// add adds a figure and, if there is one, that of the bare call.
func (r *report) add(what, value, bare string) {
	r.rows = append(r.rows, []string{what, value, bare, load()})
}

func (r *report) String() string {
	var b strings.Builder
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tagent\tbare call\tload")
	for _, row := range r.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush()
	return b.String()
}

// load is the machine's load average of the last minute: it may run other work.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// busy returns whether the machine has more work than cores.
func busy() bool {
	var v float64
	_, err := fmt.Sscan(load(), &v)
	return err != nil || v > 4
}

// spread is a set of durations.
type spread []time.Duration

func (s spread) at(percent int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return s[min(len(s)-1, len(s)*percent/100)]
}

func (s spread) String() string {
	return fmt.Sprintf("p50 %s, p99 %s", short(s.at(50)), short(s.at(99)))
}

func short(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

func kilobytes(n int) string { return fmt.Sprintf("%.1f kB", float64(n)/(1<<10)) }
