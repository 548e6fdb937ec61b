package agent

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline/pick"
)

// PathLogs is where an agent hands out lines of its node's logs, asked for with the values of
// a pick.Question.
const PathLogs = "v1/logs"

// Bounds of one answer with lines of logs.
const (
	LogsWithin   = 5 * time.Second // an agent reads no longer
	MaxLogs      = 8 << 20         // bytes of lines, as they are sent
	maxLogsExtra = 256 << 10       // of the account that ends an answer
)

// PickJournal picks from a text that no agent has picked from, such as what a kubelet hands
// out of journald, with the timestamps in UTC. Nothing in it is scrubbed yet: that is done
// here, line by line. Numbers are those of the text.
func PickJournal(q pick.Question, name, source string, taken time.Time, text []byte, scrub func(dst, b []byte) []byte) LogText {
	out := LogText{LogFile: LogFile{Name: name, Source: source, Modified: taken, Bytes: int64(len(text))}}
	out.Lines = q.Text(source, taken, text, func(number uint32, line []byte) {
		out.add(number, string(scrub(nil, line)))
		out.Handed++
	})
	return out
}
