package agent

import (
	"bytes"
	"io"
	"time"
)

// A LogRecord is one line of an agent's answer, as JSON. The last of an answer has End and
// nothing else: without it the answer is not whole.
type LogRecord struct {
	File string      `json:"file,omitempty"`
	Line uint32      `json:"line,omitempty"` // from one; see LogFile.Skipped
	Text string      `json:"text,omitempty"`
	End  *LogAccount `json:"end,omitempty"`
}

// A LogAccount says what was read for an answer, and what was not.
type LogAccount struct {
	Node    string    `json:"node"`
	Taken   time.Time `json:"taken"` // by the node's clock
	Zone    string    `json:"zone"`  // of the node's stamps that have none, as +08:00; empty if not known
	Files   []LogFile `json:"files,omitempty"`
	Absent  []string  `json:"absent,omitempty"`  // components without a file: they may log to journald
	Missing []string  `json:"missing,omitempty"` // what was not to be had or is cut, in words
	Learned []string  `json:"learned,omitempty"` // IDs and UIDs that came up in lines about what was asked
}

// A LogFile is one file of a node.
type LogFile struct {
	Name     string    `json:"name"`   // on the node
	Source   string    `json:"source"` // cni, kubelet, containerd, eventlog
	Modified time.Time `json:"modified"`
	Lines    uint32    `json:"lines"`             // that were read
	Bytes    int64     `json:"bytes"`             // likewise, unpacked
	Skipped  int64     `json:"skipped,omitempty"` // bytes at its beginning that were not: lines are counted after them
	Handed   int       `json:"handed"`            // lines in the answer
	Dropped  int       `json:"dropped,omitempty"` // lines that would be in it, had it room
}

// Logs are the lines that a node's agent has handed out.
type Logs struct {
	LogAccount
	Texts []LogText // one for each file that has any
}

// A LogText is the lines of one file that were handed out.
type LogText struct {
	LogFile
	numbers []uint32
	text    []byte
}

// Open reads the lines, one after the other, as if they were all that there is.
func (t *LogText) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(t.text)), nil }

// Number is where a line of what Open gives, counted from one, stands in the node's file;
// zero if it has none so far.
func (t *LogText) Number(line uint32) uint32 {
	if line == 0 || int(line) > len(t.numbers) {
		return 0
	}
	return t.numbers[line-1]
}

func (t *LogText) add(number uint32, line string) {
	t.numbers = append(t.numbers, number)
	for i := range len(line) {
		c := line[i]
		if c == '\n' || c == '\r' { // a stranger's: lines are counted
			c = ' '
		}
		t.text = append(t.text, c)
	}
	t.text = append(t.text, '\n')
}
