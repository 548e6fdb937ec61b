package records

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// maxPackedJournal bounds a journal file that is compressed or in an archive: it is read into
// memory, as its parts refer to each other. journald rotates at 128 MiB.
const maxPackedJournal = 256 << 20

// A journalReader turns a journal file into lines, one per entry, as an exportReader does.
type journalReader struct {
	ctx     context.Context // of the Read calls
	file    *journal.File
	entries *journal.Reader
	read    uint32
	size    int64
	out     []byte // of which Read has given
	given   int
	number  []byte // a time, in digits
}

// newJournalReader reads a journal file: in place if whole is a file, else the stream b.
func newJournalReader(ctx context.Context, b *bufio.Reader, whole io.Reader) (*journalReader, error) {
	at, size, err := readerAt(b, whole)
	if err != nil {
		return nil, err
	}
	f, err := journal.Open(at, size)
	if err != nil {
		return nil, err
	}
	fields := []string{"MESSAGE", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_COMM", "_PID"}
	return &journalReader{ctx: ctx, file: f, size: size, entries: journal.NewReader(journal.Query{Fields: fields, MaxField: maxLine}, f)}, nil
}

// readerAt gives access to all of a file.
func readerAt(b *bufio.Reader, whole io.Reader) (io.ReaderAt, int64, error) {
	file, ok := whole.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	})
	if ok {
		info, err := file.Stat()
		if err != nil {
			return nil, 0, fmt.Errorf("size of the journal file: %w", err)
		}
		return file, info.Size(), nil
	}
	data, err := io.ReadAll(io.LimitReader(b, maxPackedJournal))
	if err != nil && len(data) == 0 {
		return nil, 0, err
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

func (j *journalReader) Read(b []byte) (int, error) {
	for j.given == len(j.out) {
		e, err := j.entries.Next(j.ctx)
		if err != nil {
			return 0, err
		}
		j.out, j.given = j.line(j.out[:0], e), 0
		j.read++
	}
	n := copy(b, j.out[j.given:])
	j.given += n
	return n, nil
}

// line appends the line of an entry, if it has a message.
func (j *journalReader) line(out []byte, e *journal.Entry) []byte {
	message := e.Value("MESSAGE")
	if len(message) == 0 {
		return out
	}
	program := e.Value("SYSLOG_IDENTIFIER")
	if len(program) == 0 {
		program = e.Value("_COMM")
	}
	j.number = strconv.AppendUint(j.number[:0], e.RealtimeUsec, 10)
	return appendEntry(out, j.read, j.number, e.Value("_HOSTNAME"), program, e.Value("_PID"), message)
}

func (j *journalReader) total() (lines uint32, bytes int64) { return j.read, j.size }

// left gives what could not be read of the file.
func (j *journalReader) left() (out []string) {
	for _, d := range j.file.Damage() {
		out = append(out, d.String())
	}
	return out
}
