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

// A record is a mark, its number, the length of its text, a checksum over number, length and
// text, the text, and a newline. The text is JSON as Go encodes it: it contains no mark, no
// newline and no zero byte. So an incomplete record can be distinguished from damage: see
// torn.
const (
	mark      = 0x1e // ASCII's record separator
	headLen   = len("\x1e00000000 00000000 00000000 ")
	maxRecord = 1 << 20
	maxFrame  = headLen + maxRecord + 1
	maxLog    = 1 << 30
	sector    = 512 // smallest unit that a disk writes
)

// errDamaged means that the stored data is not what was written, and a crash does not explain
// it. Do not continue such a journal without checking it.
var errDamaged = errors.New("journal is damaged")

var (
	errTorn    = errors.New("the last record is incomplete")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func headOf(seq uint32, text []byte) []byte {
	head := fmt.Appendf(make([]byte, 0, headLen), "\x1e%08x %08x ", seq, len(text))
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, text)
	return fmt.Appendf(head, "%08x ", sum)
}

// frame encodes v as the record with that number.
func frame(seq uint32, v any) (record, text []byte, err error) {
	text, err = json.Marshal(v)
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxRecord {
		return nil, nil, fmt.Errorf("record has %d bytes, the limit is %d", len(text), maxRecord)
	}
	record = append(append(headOf(seq, text), text...), '\n')
	return record, record[headLen : len(record)-1], nil
}

// lengthIn gives the total length of a record from its header. It is not trusted before the checksum is verified.
func lengthIn(head []byte) (int, bool) {
	if len(head) < headLen {
		return 0, false
	}
	n, err := strconv.ParseUint(string(head[10:18]), 16, 32)
	return headLen + int(n) + 1, err == nil && n <= maxRecord
}

// A reader reads records in order.
type reader struct {
	in  *bufio.Reader
	at  int64 // offset of the next record; all before it is valid
	seq uint32
}

// newReader reads at most size bytes.
func newReader(r io.Reader, size int64) *reader {
	hold := min(size, int64(maxFrame)) + 1 // the largest record and one byte, or everything
	return &reader{in: bufio.NewReaderSize(io.LimitReader(r, size), int(hold))}
}

// next gives the text of the next record, valid until the next call. At the end it returns
// io.EOF, errTorn for an incomplete last record, or another error.
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
	if err != nil { // a read error is not an incomplete record
		return nil, err
	}
	tail, err := r.peek(maxFrame + 1)
	switch {
	case err != nil:
		return nil, err
	case torn(tail, r.at, r.seq):
		return nil, errTorn
	}
	return nil, fmt.Errorf("%w: record %d, at byte %d", errDamaged, r.seq, r.at)
}

// peek gives the next n bytes, or fewer at the end.
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

// torn reports whether a crash during an append can leave such a tail. Every append is on
// disk before the next begins, so the tail is of one record only: its beginning, or the
// record with sectors of zeros that were never written. Any other tail was a complete record
// once: to cut it off would lose what was done.
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

// unwritten reports whether a sector of the tail, or the part of it in the tail, is all zeros.
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

// strictly decodes one JSON value and nothing else. It rejects unknown fields: such a field
// may be a condition that must not be ignored.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON value")
	}
	return nil
}
