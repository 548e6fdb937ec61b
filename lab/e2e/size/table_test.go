//go:build e2e

package size

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// lines returns the table of a cluster, row by row; the first row has the headings.
func (c *cluster) lines() [][]string {
	out := [][]string{{"", "time", "CPU", "memory", "read", "API server's CPU", "API server's memory", "time ÷ bare", "time ÷ check", "memory ÷ check"}}
	if c.Datastore == "etcd" {
		out[0][5], out[0][6] = "API server's and etcd's CPU", "API server's and etcd's memory"
	}
	check, bare := c.row("check"), c.row("bare download")
	for _, f := range c.Rows {
		cpu, mem := 0.0, int64(0)
		for _, s := range f.Servers {
			cpu, mem = cpu+s.CPU, mem+s.Memory
		}
		out = append(out, []string{
			f.What, seconds(f.Wall), seconds(f.CPU), megabytes(f.Peak), megabytes(f.Bytes), seconds(cpu), "+" + megabytes(mem),
			ratio(f.Wall, bare.Wall), ratio(f.Wall, check.Wall), ratio(float64(f.Peak), float64(check.Peak)),
		})
	}
	return out
}

func (c *cluster) title() string {
	return fmt.Sprintf("%s: %d pods, %d nodes, %d objects (load average at the start %s)", c.Datastore, c.Pods, c.Nodes, c.Objects, c.Busy)
}

func (c *cluster) table() string {
	var b strings.Builder
	b.WriteString(c.title() + "\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range c.lines() {
		_, _ = fmt.Fprintln(w, strings.Join(l, "\t")+"\t")
	}
	_ = w.Flush()
	for _, p := range c.promises() {
		b.WriteString(p + "\n")
	}
	return b.String()
}

// promises compares the measured figures with their limits.
func (c *cluster) promises() (out []string) {
	check, bare, other, quick := c.row("check"), c.row("bare download"), c.row("calicoctl"), c.row("check --quick")
	say := func(text string, got, most float64) {
		word := "ok"
		if !(got <= most) {
			word = "EXCEEDED"
		}
		out = append(out, fmt.Sprintf("%-52s %6.3f, at most %.3f: %s", text, got, most, word))
	}
	say("check ÷ bare download, time", check.Wall/bare.Wall, 1.25)
	if other.Wall > 0 {
		say("check ÷ calicoctl, time", check.Wall/other.Wall, 0.25)
		say("check --quick ÷ calicoctl, time", quick.Wall/other.Wall, 0.1)
		say("check ÷ calicoctl, memory", float64(check.Peak)/float64(other.Peak), 0.125)
	}
	say("explain pod, seconds", c.row("explain pod").Wall, 1)
	say("explain ip, seconds", c.row("explain ip").Wall, 1)
	return out
}

func seconds(v float64) string { return fmt.Sprintf("%.*f s", decimals(v), v) }

func megabytes(n int64) string {
	v := float64(n) / (1 << 20)
	return fmt.Sprintf("%.*f MB", decimals(v*10), v)
}

func decimals(v float64) int {
	switch {
	case v < 10:
		return 2
	case v < 100:
		return 1
	}
	return 0
}

func ratio(a, b float64) string {
	if a <= 0 || b <= 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", a/b)
}
