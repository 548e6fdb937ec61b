package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"plumbline.dev/plumbline/internal/agent"
)

// Bounds on what is read for one answer.
const (
	maxLogRead = 2 << 30   // of all files, unpacked, in both passes
	maxOfLog   = 512 << 20 // of one file: its end
	maxLogLine = 64 << 10  // what is longer is cut
	logBuffer  = 256 << 10
	maxSecret  = 16 << 10 // at the end of a line that was cut half a token may stand
)

var (
	errLogsTime = fmt.Errorf("not in %s", agent.LogsWithin)
	errLogsRead = fmt.Errorf("more than %d GiB in all", maxLogRead>>30)
)

// A meter ends a read whose time is over, or that was one too many.
type meter struct {
	ctx  context.Context
	in   io.Reader
	left *int64
	read int64
}

func (m *meter) Read(p []byte) (int, error) {
	switch {
	case m.ctx.Err() != nil:
		return 0, errLogsTime
	case *m.left <= 0:
		return 0, errLogsRead
	}
	n, err := m.in.Read(p)
	*m.left -= int64(n)
	m.read += int64(n)
	return n, err
}

// unpacked gives a file's text: of a large one its end only, and how much was left out.
func unpacked(f *logFile, in io.Reader) (io.Reader, int64, error) {
	if f.journal {
		return io.LimitReader(in, maxOfLog), 0, nil
	}
	if strings.HasSuffix(f.name, ".gz") {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, 0, err
		}
		return z, 0, nil
	}
	skip := f.size - maxOfLog
	seeker, ok := in.(io.Seeker)
	if skip <= 0 || !ok {
		return io.LimitReader(in, f.size), 0, nil // what is written meanwhile is for the next who asks
	}
	if _, err := seeker.Seek(skip, io.SeekStart); err != nil {
		return nil, 0, err
	}
	return io.LimitReader(in, maxOfLog), skip, nil
}

// lines hands out the lines of a text, in their order. What is said of one is valid until
// the next.
func lines(in io.Reader, begun bool, each func(number uint32, line []byte, cut bool)) error {
	r := bufio.NewReaderSize(in, logBuffer)
	var long []byte
	for number := uint32(1); ; number++ {
		line, err := r.ReadSlice('\n')
		cut := len(line) > maxLogLine
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], line[:maxLogLine]...)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
			line = long
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		whole := err == nil || len(line) > 0
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case !whole:
			return nil
		case begun: // in the midst of a line
			begun = false
			number--
		case cut:
			each(number, tokensIn(line), true)
		default:
			each(number, line, false)
		}
		if err != nil {
			return nil // the end of the file
		}
	}
}

// tokensIn cuts a long line where no secret can be cut in two: half of one is not known
// for what it is.
func tokensIn(line []byte) []byte {
	line = line[:min(len(line), maxLogLine)]
	from := max(0, len(line)-maxSecret)
	if i := bytes.LastIndexByte(line[from:], ' '); i >= 0 {
		return line[:from+i]
	}
	return line[:from]
}
