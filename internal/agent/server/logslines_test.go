package server

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Of a file that nobody ever rotated the end is read.
func TestEndOfLargeLog(t *testing.T) {
	t.Parallel()
	f, err := os.Create(t.TempDir() + "/kubelet.log")
	must(t, err)
	defer f.Close()
	const size = maxOfLog + 1000
	must(t, f.Truncate(size)) // a hole
	_, err = f.WriteAt([]byte("\x01"), 1000)
	must(t, err)
	text, skipped, err := unpacked(&logFile{name: "kubelet.log", seenFile: seenFile{size: size}}, f)
	must(t, err)
	first := make([]byte, 1)
	if _, err := text.Read(first); err != nil || skipped != 1000 || first[0] != 1 {
		t.Errorf("%d, %q, %v", skipped, first, err)
	}
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", logBuffer)
	for _, c := range []struct {
		text  string
		begun bool
		want  string
	}{
		{"", false, ""},
		{"\n", false, "1 0 false;"},
		{"a\r\nbb\n\nccc", false, "1 1 false;2 2 false;3 0 false;4 3 false;"},
		{"rest\na\nb\n", true, "1 1 false;2 1 false;"},
		{long + "\na\n", false, fmt.Sprintf("1 %d true;2 1 false;", len(tokensIn([]byte(long))))},
		{long, false, fmt.Sprintf("1 %d true;", len(tokensIn([]byte(long))))},
		{long + "\na\n", true, "1 1 false;"},
	} {
		got := ""
		must(t, lines(strings.NewReader(c.text), c.begun, func(n uint32, line []byte, cut bool) {
			got += fmt.Sprintf("%d %d %t;", n, len(line), cut)
		}))
		if got != c.want {
			t.Errorf("%.20q %t: %s, want %s", c.text, c.begun, got, c.want)
		}
	}
}
