package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// A record is a mark, its number, the length of its text, a checksum over all three, the
// text, and a line end. The text is JSON as Go writes it: it holds no mark, no line end and
// no zero. So what a crash left can be told from what rotted: see torn.
const (
	mark      = 0x1e // ASCII's record separator
	headLen   = len("\x1e00000000 00000000 00000000 ")
	maxRecord = 1 << 20
	maxFrame  = headLen + maxRecord + 1
	maxLog    = 1 << 30
	sector    = 512 // the least that a disk writes
)

// ErrDamaged means that what is kept is not what was written, and that no crash explains
// it. Nobody should go on from there without a person's look.
var ErrDamaged = errors.New("journal is damaged")

var (
	errTorn    = errors.New("the last record was not written to its end")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func headOf(seq uint32, text []byte) []byte {
	head := fmt.Appendf(make([]byte, 0, headLen), "\x1e%08x %08x ", seq, len(text))
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, text)
	return fmt.Appendf(head, "%08x ", sum)
}

// frame gives the record with that number whose text is v.
func frame(seq uint32, v any) (record, text []byte, err error) {
	text, err = json.Marshal(v)
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxRecord {
		return nil, nil, fmt.Errorf("record of %d bytes, at most %d are kept", len(text), maxRecord)
	}
	record = append(append(headOf(seq, text), text...), '\n')
	return record, record[headLen : len(record)-1], nil
}

// lengthIn reads how long a record is in all; what it says counts only with the checksum.
func lengthIn(head []byte) (int, bool) {
	if len(head) < headLen {
		return 0, false
	}
	n, err := strconv.ParseUint(string(head[10:18]), 16, 32)
	return headLen + int(n) + 1, err == nil && n <= maxRecord
}

// A reader hands out records one after the other.
type reader struct {
	in  *bufio.Reader
	at  int64 // where the next record begins: all before it is good
	seq uint32
}

// newReader reads that many bytes at most.
func newReader(r io.Reader, size int64) *reader {
	hold := min(size, int64(maxFrame)) + 1 // a record and a byte more, or all there is
	return &reader{in: bufio.NewReaderSize(io.LimitReader(r, size), int(hold))}
}

// next gives the text of the next record, good until the next call. It ends in io.EOF, in
// errTorn, or in an error.
func (r *reader) next() ([]byte, error) {
	head, err := r.peek(headLen)
	if err == nil && len(head) == 0 {
		return nil, io.EOF
	}
	if n, ok := lengthIn(head); ok && err == nil {
		var all []byte
		if all, err = r.peek(n); len(all) == n && all[n-1] == '\n' {
			if text := all[headLen : n-1]; bytes.Equal(all[:headLen], headOf(r.seq, text)) {
				r.seq++
				return text, r.skip(n)
			}
		}
	}
	if err != nil { // a disk that does not answer is no torn tail
		return nil, err
	}
	tail, err := r.peek(maxFrame + 1)
	switch {
	case err != nil:
		return nil, err
	case torn(tail, r.at, r.seq):
		return nil, errTorn
	}
	return nil, fmt.Errorf("%w: record %d, at byte %d", ErrDamaged, r.seq, r.at)
}

// peek gives what is there of the next n bytes.
func (r *reader) peek(n int) ([]byte, error) {
	b, err := r.in.Peek(min(n, r.in.Size()))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b, err
}

func (r *reader) skip(n int) error {
	k, err := r.in.Discard(n)
	r.at += int64(k)
	return err
}

// torn tells whether a crash in the middle of an append leaves such a tail. Every append
// is on the disk before the next begins, so it is of one record only: its beginning, or
// with sectors of zeros that were never written. All else had been whole once, and cutting
// it off would forget what was done.
func torn(tail []byte, at int64, seq uint32) bool {
	if len(tail) > maxFrame || bytes.IndexByte(tail[1:], mark) >= 0 {
		return false // another record begins in it
	}
	if unwritten(tail, at) {
		return true
	}
	begin := fmt.Appendf(nil, "\x1e%08x ", seq)
	n := min(len(begin), len(tail))
	length, ok := lengthIn(tail)
	whole := ok && len(tail) >= length || bytes.IndexByte(tail, '\n') >= 0
	return !whole && bytes.Equal(tail[:n], begin[:n])
}

// unwritten tells whether a sector of the tail, or what the tail has of it, is all zeros.
func unwritten(tail []byte, at int64) bool {
	for len(tail) > 0 {
		n := min(len(tail), sector-int(at%sector))
		if len(bytes.Trim(tail[:n], "\x00")) == 0 {
			return true
		}
		tail, at = tail[n:], at+int64(n)
	}
	return false
}

// strictly reads one JSON value and nothing else. A field that this version does not know
// may be a condition: it must not be passed over.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}
