package scrub

import (
	"encoding/json"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var planted = flag.Int("bytes", 4<<20, "how many bytes of lines with planted credentials")

// wraps are how programs write what somebody else said into a line of their own.
var wraps = map[string]func(before, text string) string{
	"as it is": func(before, text string) string { return before + " " + text },
	"of an error": func(before, text string) string {
		return before + " err=" + strconv.Quote("failed to start: "+text)
	},
	"of an error of an error": func(before, text string) string {
		return before + " err=" + strconv.Quote("rpc error: code = Unknown desc = "+strconv.Quote(text))
	},
	"in JSON": func(before, text string) string {
		b, _ := json.Marshal(map[string]string{"ts": before, "msg": text})
		return string(b)
	},
}

// TestPlantedCredentials plants credentials of every form into lines that kubelets, runtimes and Calico have written: none leaves the
// node. Lines without one stay what they are, but for those that look like one.
func TestPlantedCredentials(t *testing.T) {
	t.Parallel()
	var lines []string
	err := filepath.WalkDir("../timeline", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".log") {
			return err
		}
		b, err := os.ReadFile(path)
		for line := range strings.Lines(string(b)) {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
		return err
	})
	if err != nil || len(lines) < 1000 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	var forms []hostileForm
	for _, f := range hostileForms() {
		if !unrecognised[f.name] && !strings.Contains(f.text, "\n") {
			forms = append(forms, f)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same lines each time
	names := []string{"as it is", "of an error", "of an error of an error", "in JSON"}
	masked := 0
	for _, line := range lines {
		if String(line) == line && string(Outgoing(nil, []byte(line))) != line {
			masked++
		}
	}
	if masked*1000 > len(lines) {
		t.Errorf("%d of %d lines without a credential are masked", masked, len(lines))
	}
	leaks, tried, size := map[string]int{}, 0, 0
	for size < *planted {
		line := lines[rng.IntN(len(lines))]
		size += len(line)
		if rng.IntN(10) > 0 {
			continue
		}
		f, wrap := forms[rng.IntN(len(forms))], names[rng.IntN(len(names))]
		tried++
		before, _, _ := strings.Cut(line[:min(len(line), 60)], `"`) // header and message
		out := string(Outgoing(nil, []byte(wraps[wrap](before, f.text))))
		if strings.Contains(out, f.secret) {
			leaks[f.name+", "+wrap]++
		}
	}
	for name, n := range leaks {
		t.Errorf("%s: left the node %d times", name, n)
	}
	t.Logf("%d MB: %d planted, %d kinds leak; of %d different lines without one %d are masked", size>>20, tried, len(leaks), len(lines), masked)
}
