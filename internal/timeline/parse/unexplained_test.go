package parse

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// TestUnexplained takes something from the log of a late DEL: any one line, the order within each second, or the end. What is left
// shows the late DEL or says what it does not explain; it is never nothing.
func TestUnexplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/unexplained/late-del.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	tries := map[string][]string{}
	for n := range lines {
		tries[fmt.Sprintf("without line %d", n+1)] = slices.Concat(lines[:n], lines[n+1:])
		if n >= strings.Count(string(text[:strings.Index(string(text), "CNI_COMMAND=DEL")]), "\n") {
			tries[fmt.Sprintf("ends with line %d", n+1)] = lines[:n+1]
		}
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tries[fmt.Sprintf("order %d", seed)] = shuffledSeconds(lines, rng)
	}
	silent, proven := 0, 0
	for name, part := range tries {
		verdicts, open := judgedLines(t, part)
		for _, v := range verdicts {
			if v.Cause != timeline.LateDel || !strings.HasPrefix(v.Victim, "291716a39be9") {
				t.Errorf("%s: %s %s", name, v.Cause, v.Says)
			}
			proven++
		}
		if len(verdicts)+len(open) == 0 {
			silent++
			t.Errorf("%s: nothing is said", name)
		}
		if len(open) > 2 { // a removal without its call, and a call without its end
			t.Errorf("%s: %+v", name, open)
		}
	}
	t.Logf("%d logs, %d with a verdict, %d silent", len(tries), proven, silent)
	if proven == 0 || proven == len(tries) {
		t.Error("the tries are too much alike")
	}
}

// shuffledSeconds orders the lines of each second anew, as stores do that keep whole seconds.
func shuffledSeconds(lines []string, rng *rand.Rand) []string {
	out := slices.Clone(lines)
	for from := 0; from < len(out); {
		to := from
		for to < len(out) && out[to][:15] == out[from][:15] {
			to++
		}
		rng.Shuffle(to-from, func(a, b int) { out[from+a], out[from+b] = out[from+b], out[from+a] })
		from = to
	}
	return out
}

// TestKeptAndReleased reads the DEL of a sandbox whose endpoint another one had: it released an address by the pod's name.
func TestKeptAndReleased(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/unexplained/kept-and-released.log")
	if err != nil {
		t.Fatal(err)
	}
	verdicts, open := judgedLines(t, []string{string(text)})
	if len(verdicts) != 0 || len(open) != 1 || open[0].Pod != "legacy-handle/web-0" || !strings.Contains(open[0].Says, "legacy-handle.web-0") {
		t.Errorf("%+v, %+v", verdicts, open)
	}
}

func judgedLines(t *testing.T, lines []string) ([]timeline.Verdict, []timeline.Unexplained) {
	t.Helper()
	log, err := Read(t.Context(), []Input{{Input: records.Input{
		Name: "node1/kubelet.log", Node: "node1", ModTime: time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(strings.Join(lines, ""))), nil },
	}}}, func(*timeline.Event) bool { return true }, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, open, _ := timeline.JudgeAll(log)
	return verdicts, open
}
