package records

import (
	"strings"
	"testing"
)

// The anchor is the same whether it is found in the first chunk or,
// with smaller ones, before them.
func TestAnchorByChunk(t *testing.T) {
	t.Parallel()
	line := "I1204 02:09:08.650149      36 a.go:1] x\n"
	tells := "I1204 10:09:09.650149      36 a.go:1] since 2017-12-04 10:09:08 +0800 CST\n"
	for name, text := range map[string]string{
		"late":           strings.Repeat(line, 300) + tells,
		"wrapped":        strings.Repeat(line, 300) + "I1204 10:09:09.650149      36 a.go:1] since {\n  2017-12-04 10:09:08 +0800 CST}\n",
		"after a blank":  strings.Repeat(line, 300) + " \n\n" + tells,
		"of no line":     strings.Repeat(line, 300) + "\nat 2017-12-04 10:09:08 +0800 CST\n" + line,
		"of another day": strings.Repeat(line, 300) + strings.Replace(tells, "-12-04", "-12-05", 1),
		"behind it":      strings.Repeat(line, headSize/len(line)+2) + tells,
	} {
		files, want := records(t, chunkSize, Options{}, file("x", text))
		again, got := records(t, 1000, Options{}, file("x", text))
		if tells := name == "late" || name == "wrapped" || name == "after a blank"; tells != (files[0].East == 8*3600) || tells != (want[0][0].At.Year() == 2017) {
			t.Errorf("%s: %+v, %s", name, files[0], want[0][0].At)
		}
		if again[0].East != files[0].East || !got[0][0].At.Equal(want[0][0].At) {
			t.Errorf("%s: with small chunks %+v, %s", name, again[0], got[0][0].At)
		}
	}
}
