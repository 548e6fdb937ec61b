//go:build e2e

package incidents

import (
	"fmt"
	"regexp"
	"strings"

	"plumbline.dev/plumbline/lab"
)

// A walk is what the page does about one incident: the commands after a comment
// <!-- lab: SCENARIO MODE MOMENT -->, in order. After ", left CODE+CODE" findings of these codes
// may be left at the end.
type walk struct {
	scenario, moment string
	left             string
	mode             lab.Datastore
	commands         []command
}

// A command is one line that begins with $, and where its output stands in the page.
type command struct {
	text     string
	from, to int // lines of the output
}

var marker = regexp.MustCompile(`^<!-- lab: (\S+) (kdd|etcd) ([^,]+)(?:, left (\S+))? -->$`)

// read finds the walks of a page.
func read(lines []string) ([]walk, error) {
	var out []walk
	fence := false
	for i, line := range lines {
		if m := marker.FindStringSubmatch(line); m != nil {
			out = append(out, walk{scenario: m[1], mode: lab.Datastore(m[2]), moment: m[3], left: m[4]})
			continue
		}
		if strings.HasPrefix(line, "```") {
			fence = !fence
			continue
		}
		text, is := strings.CutPrefix(line, "$ ")
		if !fence || !is {
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("line %d: a command before the first incident", i+1)
		}
		w := &out[len(out)-1]
		c := command{text: text, from: i + 1, to: i + 1}
		for c.to < len(lines) && !strings.HasPrefix(lines[c.to], "```") && !strings.HasPrefix(lines[c.to], "$ ") {
			c.to++
		}
		w.commands = append(w.commands, c)
	}
	return out, nil
}

// written is the page with the outputs of some commands replaced, which must come in order.
func written(lines []string, outputs []output) []string {
	var out []string
	at := 0
	for _, o := range outputs {
		out = append(out, lines[at:o.from]...)
		out = append(out, strings.Split(strings.TrimRight(o.text, "\n"), "\n")...)
		at = o.to
	}
	return append(out, lines[at:]...)
}

type output struct {
	command
	text string
}
