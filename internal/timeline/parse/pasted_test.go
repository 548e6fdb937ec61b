package parse

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// TestPasted reads what people paste: the lines of one kind about five failed ADDs over eight minutes, and an incident newest line
// first. What happened is counted even where no line names a pod.
func TestPasted(t *testing.T) {
	t.Parallel()
	five := []timeline.FailedCalls{{Call: "ADD", Cause: "the plugin's credential is not accepted (unauthorized)", Count: 5, Pods: 1}}
	nobody := []timeline.FailedCalls{{Call: "ADD", Cause: five[0].Cause, Count: 5}}
	for name, want := range map[string]struct {
		cause  timeline.Cause // of the only verdict; empty: none
		failed []timeline.FailedCalls
	}{
		"worker": {timeline.FailingAdd, five}, "manager": {timeline.FailingAdd, five}, "old-worker": {timeline.FailingAdd, five}, "crio": {timeline.FailingAdd, five},
		"run": {"", nobody}, "remote_runtime": {"", nobody}, "old-run": {"", nobody}, "crio-old": {"", nobody},
		"newest-first": {timeline.LateDel, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", "pasted", name+".log"))
			if err != nil {
				t.Fatal(err)
			}
			file := "node1/kubelet.log"
			if strings.HasPrefix(name, "crio") {
				file = "node1/crio.log"
			}
			log, err := Read(t.Context(), []Input{{Input: records.Input{
				Name: file, Node: "node1", ModTime: time.Date(2026, 11, 15, 11, 0, 0, 0, time.UTC), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
			}}}, func(*timeline.Event) bool { return true }, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			verdicts, _, _ := timeline.JudgeAll(log)
			if len(verdicts) > 1 || (len(verdicts) == 1) != (want.cause != "") || len(verdicts) == 1 && verdicts[0].Cause != want.cause {
				t.Errorf("verdicts %+v, want %q", verdicts, want.cause)
			}
			failed := log.FailedCalls()
			if len(failed) != len(want.failed) || len(failed) == 1 && failed[0] != want.failed[0] {
				t.Errorf("failed calls %+v, want %+v", failed, want.failed)
			}
		})
	}
}
