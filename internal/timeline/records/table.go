package records

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// isTable reports by a file's beginning whether it is a CSV file with a column of lines, as Kibana
// and other stores export them.
func isTable(head []byte) bool {
	line, _, ok := bytes.Cut(head, newline)
	if !ok || len(line) > 4<<10 || bytes.IndexByte(line, ',') < 0 {
		return false
	}
	columns, err := csv.NewReader(bytes.NewReader(line)).Read()
	return err == nil && column(columns, messageColumns) >= 0 && column(columns, timeColumns) >= 0
}

// Names of columns, in lower case.
var (
	messageColumns = []string{"message", "log", "line", "textpayload", "@message", "_source.message"}
	timeColumns    = []string{"@timestamp", "timestamp", "time", "date", "_source.@timestamp"}
	nodeColumns    = []string{"host.name", "hostname", "host", "node", "kubernetes.host", "kubernetes.node.name"}
)

func column(columns, names []string) int {
	return slices.IndexFunc(columns, func(c string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSpace(c))) })
}

// A tableReader reads a CSV file.
type tableReader struct {
	entries
	in                  *counter
	csv                 *csv.Reader
	message, time, node int
	before              int64 // bytes that were read when the last row ended
}

func newTableReader(b *bufio.Reader, head []byte) *tableReader {
	t := &tableReader{in: &counter{r: b}}
	t.csv = csv.NewReader(boundedRow{t})
	t.csv.FieldsPerRecord, t.csv.LazyQuotes, t.csv.ReuseRecord = -1, true, true
	t.entries = entries{next: t.row, lines: t.in.total}
	line, _, _ := bytes.Cut(head, newline)
	columns, _ := csv.NewReader(bytes.NewReader(line)).Read()
	t.message, t.time, t.node = column(columns, messageColumns), column(columns, timeColumns), column(columns, nodeColumns)
	return t
}

// boundedRow is the input of the CSV reader, which would keep a row of any size: a quote that is
// never closed makes the rest of the file one.
type boundedRow struct{ t *tableReader }

func (b boundedRow) Read(p []byte) (int, error) {
	if b.t.in.bytes-b.t.before > maxValue {
		return 0, fmt.Errorf("%w: more than %d MiB before line %d", errValue, maxValue>>20, b.t.in.lines+1)
	}
	return b.t.in.Read(p)
}

func (t *tableReader) row() error {
	row, err := t.csv.Read()
	t.before = t.in.bytes
	t.in.line(t.before) // breaks before it are not asked about
	if err != nil || len(row) <= t.message || t.csv.InputOffset() == 0 {
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return err
	}
	if column(row, messageColumns) == t.message && column(row, timeColumns) == t.time {
		return nil // the header
	}
	at, _ := t.csv.FieldPos(0)
	var micros, node []byte
	if t.time < len(row) {
		var s stamp
		if isoStamp([]byte(row[t.time]), &s) == 0 || !s.zoned {
			s = epoch([]byte(row[t.time])) // Kibana's own form has no zone: it is that of a browser
		}
		if s.is() {
			micros = microseconds(s.in(0, 0))
		}
	}
	if t.node >= 0 && t.node < len(row) {
		node = []byte(row[t.node])
	}
	t.out = appendEntry(t.out, uint32(max(at-1, 0)), micros, node, nil, nil, []byte(row[t.message]))
	return nil
}

// microseconds gives a time as the journal writes it.
func microseconds(t time.Time) []byte { return strconv.AppendInt(nil, t.UnixMicro(), 10) }
