package records

import (
	"bytes"
	"errors"
	"io"
)

// A chunker cuts a stream into chunks that can be parsed independently: each begins with a line
// that does not continue another. Of lines that are too long it keeps the beginning.
type chunker struct {
	r       io.Reader
	size    int
	probe   parser
	carry   []byte // the rest after the last chunk
	eof     bool
	err     error // read error other than io.EOF
	bytes   int64
	long    int
	skipped int64
}

// next fills buf with a chunk, which is empty at the end of the stream.
func (c *chunker) next(buf []byte) []byte {
	buf = append(buf[:0], c.carry...)
	c.carry = c.carry[:0]
	for want := c.size; ; want *= 2 {
		buf = c.fill(buf, want)
		if c.eof {
			return buf
		}
		if at := c.cut(buf); at > 0 {
			c.carry = append(c.carry, buf[at:]...)
			return buf[:at]
		}
	}
}

// fill reads until buf has want bytes.
func (c *chunker) fill(buf []byte, want int) []byte {
	start := bytes.LastIndexByte(buf, '\n') + 1 // of the last line
	for !c.eof && len(buf) < want {
		at := len(buf)
		buf = c.read(buf, want-at)
		if i := bytes.LastIndexByte(buf[at:], '\n'); i >= 0 {
			start = at + i + 1
		}
		if len(buf)-start > maxLine {
			buf = c.skip(buf, start+maxLine)
			start = len(buf)
			if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
				start = i + 1
			}
		}
	}
	return buf
}

func (c *chunker) read(buf []byte, n int) []byte {
	at := len(buf)
	if cap(buf)-at < n {
		buf = append(make([]byte, 0, at+n), buf...)
	}
	got, err := c.r.Read(buf[at : at+n])
	c.bytes += int64(got)
	if err != nil {
		c.eof = true
		if !errors.Is(err, io.EOF) {
			c.err = err
		}
	}
	return buf[:at+got]
}

// skip drops the rest of the last line in buf, from keep on.
func (c *chunker) skip(buf []byte, keep int) []byte {
	c.long++
	for {
		rest := buf[keep:]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			c.skipped += int64(i)
			return append(buf[:keep], rest[i:]...)
		}
		c.skipped += int64(len(rest))
		buf = buf[:keep]
		if c.eof {
			return buf
		}
		buf = c.read(buf, max(c.size, 64<<10))
	}
}

// cutBefore reports whether a container runtime has cut the last line of buf: the next continues it.
func (c *chunker) cutBefore(buf []byte) bool {
	buf = bytes.TrimSuffix(buf, newline)
	line := buf[bytes.LastIndexByte(buf, '\n')+1:]
	c.probe.parse(line[:min(len(line), maxLine)])
	return c.probe.partial
}

// cut gives the last position in buf at which a chunk may end, 0 if there is none: before a line
// with a header, after an empty line, or where no header is near enough for lines to be joined
// to it.
func (c *chunker) cut(buf []byte) int {
	end := bytes.LastIndexByte(buf, '\n')
	last := 0
	for from, n := end, 0; from > 0; n++ {
		start := bytes.LastIndexByte(buf[:from], '\n') + 1
		line := buf[start:from]
		if n == 0 {
			last = start
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return from + 1
		}
		c.probe.parse(line[:min(len(line), maxLine)])
		if c.probe.headed && (c.probe.stream == 0 || !c.cutBefore(buf[:start])) {
			return start
		}
		if n >= maxWrapped || end-start > maxLine {
			return last
		}
		from = start - 1
	}
	return 0
}
