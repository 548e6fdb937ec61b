package parse

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/timeline"
)

// TestShipped reads lines of a file of syslog as shippers send them: JSON whose message begins with the header of syslog, which alone
// has the program and the node.
func TestShipped(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/unexplained/late-del.log")
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]func(line string) map[string]any{
		"message": func(line string) map[string]any {
			return map[string]any{"@timestamp": stampOf(line), "message": line}
		},
		"log and host": func(line string) map[string]any {
			return map[string]any{"@timestamp": stampOf(line), "host": map[string]string{"name": "slave-197"}, "log": line}
		},
		"a full date": func(line string) map[string]any {
			return map[string]any{"@timestamp": "2017-12-13T09:00:00.000Z", "message": strings.Replace(line, line[:15], strings.Replace(stampOf(line), "Z", "+00:00", 1), 1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for line := range strings.Lines(string(text)) {
				b, err := json.Marshal(form(strings.TrimSuffix(line, "\n")))
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, string(b)+"\n")
			}
			verdicts, _ := judgedLines(t, lines)
			if len(verdicts) != 1 || verdicts[0].Cause != timeline.LateDel || verdicts[0].Certainty != timeline.Proven || verdicts[0].Node != "slave-197" || verdicts[0].At.UTC().Format("15:04:05") != "12:22:24" {
				t.Errorf("%+v", verdicts)
			}
		})
	}
}

// stampOf gives the time of a line of Dec 12 20:21:27 in China.
func stampOf(line string) string { return "2017-12-12T12" + line[9:15] + "Z" }
