package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"plumbline.dev/plumbline/internal/hostfile"
)

// Read calls each with the entries of an event log, the oldest first, and gives the number of
// lines with a wrong checksum: cut by a crash, or written by another program. Segments of a
// newer version are skipped; the error then names them.
func Read(dir string, each func(Entry) error) (bad int, err error) {
	names, err := Segments(dir)
	if err != nil {
		return 0, err
	}
	var newer error
	for _, name := range names {
		f, _, err := hostfile.OpenRegular(filepath.Join(dir, name), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile as the oldest
		}
		if err != nil {
			return bad, fmt.Errorf("read event log: %w", err)
		}
		if err := Check(f); err != nil {
			newer = errors.Join(newer, fmt.Errorf("%s: %w", name, err), f.Close())
			continue
		}
		b, err := readSegment(io.LimitReader(f, 2*segmentSize), each)
		bad += b
		if err = errors.Join(err, f.Close()); err != nil {
			return bad, err
		}
	}
	return bad, newer
}

func readSegment(r io.Reader, each func(Entry) error) (bad int, err error) {
	in := bufio.NewReaderSize(r, maxLine+16)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			bad++
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
		case len(line) > 0:
			body, ok := checked(line)
			if _, heading := HeadingVersion(body); heading {
				break
			}
			var e Entry
			if !ok || json.Unmarshal(body, &e) != nil {
				bad++
			} else if err := each(e); err != nil {
				return bad, err
			}
		}
		if errors.Is(err, io.EOF) {
			return bad, nil
		}
		if err != nil {
			return bad, fmt.Errorf("read event log: %w", err)
		}
	}
}

// Parse reads a line: checksum, space, entry. It gives false if the checksum does not match, or
// if the line is a heading.
func Parse(line []byte) (Entry, bool) {
	var e Entry
	body, ok := checked(line)
	if _, heading := HeadingVersion(body); !ok || heading {
		return e, false
	}
	return e, json.Unmarshal(body, &e) == nil
}

// checked gives what follows the checksum of a line.
func checked(line []byte) ([]byte, bool) {
	sum, body, ok := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || err != nil || crc32.ChecksumIEEE(body) != uint32(want) {
		return nil, false
	}
	return body, true
}
