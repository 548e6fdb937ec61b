package records

import (
	"slices"
	"strings"
	"testing"
)

func TestJoining(t *testing.T) {
	t.Parallel()
	const (
		klog   = "E1212 20:00:18.678639   11608 cni.go:312] "
		logrus = `time="2017-12-12T20:21:27+08:00" level=info msg=`
	)
	for name, c := range map[string]struct {
		text string
		want []string // the texts of the records
	}{
		"a quote is open":               {logrus + "\"CNI_\nCOMMAND=DEL\"\nx", []string{"CNI_COMMAND=DEL", "x"}},
		"an escaped quote closes none":  {logrus + "\"a \\\"\nb\"\nx", []string{`a "b`, "x"}},
		"a bracket is open":             {klog + "f(a,\nb)\nx", []string{"f(a,b)", "x"}},
		"a bracket in quotes is none":   {klog + "say \"[\"\nx", []string{"say \"[\"", "x"}},
		"nothing was said yet":          {strings.TrimSpace(klog) + "\nf\nx", []string{"f", "x"}},
		"set deeper":                    {klog + "f\n\tg\n\t\th\nx", []string{"fgh", "x"}},
		"set deeper than the header is": {"  " + klog + "f\n  x\n   g\n", []string{"f", "x", "g"}},
		"set less deep":                 {"\t" + klog + "f(\nx", []string{"f(", "x"}},
		"left out":                      {klog + "f(\n...\nb)", []string{"f(", "...", "b)"}},
		"left out, deeper":              {klog + "f(\n\t... (more) ...\nb)", []string{"f(", "... (more) ...", "b)"}},
		"the block ends":                {klog + "f(\n```\nx", []string{"f(", "```", "x"}},
		"an empty line between":         {klog + "f(\n\nb)", []string{"f(", "b)"}},
		"a header between":              {klog + "f(\n" + klog + "g\nb)", []string{"f(", "g", "b)"}},
		"an object has ended":           {"{\"a\":\"b\"}\n\tx", []string{"{\"a\":\"b\"}", "x"}},
		"no header to join to":          {"f(\n\tb)", []string{"f(", "b)"}},
	} {
		var got []string
		for _, r := range one(t, c.text) {
			got = append(got, r.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A line is cut at the same place whether its chunk holds all of it or not.
func TestLongLinesAreCut(t *testing.T) {
	t.Parallel()
	text := "a\nI1115 10:31:56.650149      36 a.go:1] " + strings.Repeat("x", 300<<10) + "\n\tb\n" + strings.Repeat("y", 300<<10)
	for _, size := range []int{100, 4096, chunkSize} {
		files, got := records(t, size, Options{}, file("x", text))
		var lens []int
		for _, r := range got[0] {
			lens = append(lens, len(r.Raw))
		}
		if !slices.Equal(lens, []int{1, maxLine, 2, maxLine}) || files[0].Lines != 4 {
			t.Errorf("chunks of %d: %v in %d lines", size, lens, files[0].Lines)
		}
		if want := "the part of lines beyond 256 KiB: 90150 bytes in 2 lines"; len(files[0].Left) != 1 || files[0].Left[0] != want {
			t.Errorf("chunks of %d: %q", size, files[0].Left)
		}
	}
}
