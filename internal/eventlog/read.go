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
// lines with a wrong checksum: cut by a crash, or written by another program.
func Read(dir string, each func(Entry) error) (bad int, err error) {
	numbers, err := list(dir)
	if err != nil {
		return 0, err
	}
	for _, n := range numbers {
		f, _, err := hostfile.OpenRegular(filepath.Join(dir, fmt.Sprintf("%08d%s", n, suffix)), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile as the oldest
		}
		if err != nil {
			return bad, fmt.Errorf("read event log: %w", err)
		}
		b, err := readSegment(io.LimitReader(f, 2*segmentSize), each)
		bad += b
		if err = errors.Join(err, f.Close()); err != nil {
			return bad, err
		}
	}
	return bad, nil
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
			e, ok := Parse(line)
			if !ok {
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

// Parse reads a line: checksum, space, entry. It gives false if the checksum does not match.
func Parse(line []byte) (Entry, bool) {
	var e Entry
	sum, body, ok := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || err != nil || crc32.ChecksumIEEE(body) != uint32(want) {
		return e, false
	}
	return e, json.Unmarshal(body, &e) == nil
}
