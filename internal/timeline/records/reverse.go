package records

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// maxReversed bounds a file that is turned round, which is done in memory.
const maxReversed = 256 << 20

var errReversed = errors.New("newest line first, and too large to be turned round")

// newestFirst reports by the beginning of a file whether its lines go back in time, as stores of
// logs show them. Judged as they stand, every cause would follow its effect.
func newestFirst(head []byte, export bool, n *names) bool {
	const enough, certain, most = 3, 2, 500 // a line may be late; all of them are not
	p := parser{names: n, export: export}
	var last stamp
	up, down := 0, 0
	for lines := 0; len(head) > 0 && lines < most; lines++ {
		var line []byte
		var whole bool
		line, head, whole = bytes.Cut(head, newline)
		if !whole || isBlank(line) {
			continue
		}
		p.parse(line)
		s := p.inner
		if p.outer.is() {
			s = p.outer
		}
		if !p.headed || !s.is() {
			continue
		}
		if last.is() {
			switch s.compare(&last) {
			case 1:
				up++
			case -1:
				down++
			}
		}
		last = s
	}
	return down >= enough && down > 4*up || down >= certain && up == 0
}

// compare orders two timestamps of one file, as written.
func (s *stamp) compare(than *stamp) int {
	return slices.Compare(
		[]int{int(s.year), int(s.month), int(s.day), int(s.hour), int(s.minute), int(s.sec), int(s.nano)},
		[]int{int(than.year), int(than.month), int(than.day), int(than.hour), int(than.minute), int(than.sec), int(than.nano)})
}

// A reversed is a file turned round: its lines from the last to the first, but those that continue
// another stay after it.
type reversed struct {
	io.Reader
	numbers []uint32 // File.Turned
}

// turnRound reads a file to its end.
func turnRound(r io.Reader, export bool, n *names) (*reversed, error) {
	all, err := io.ReadAll(io.LimitReader(r, maxReversed+1))
	if err != nil {
		return nil, err
	}
	if len(all) > maxReversed {
		return nil, errReversed
	}
	type block struct {
		start, end int
		line       uint32
		lines      uint32
	}
	var blocks []block
	p := parser{names: n, export: export}
	for start, line := 0, uint32(1); start < len(all); line++ {
		end := len(all)
		if i := bytes.IndexByte(all[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		text := all[start : end-1+bool01(all[end-1] != '\n')]
		p.parse(text[:min(len(text), maxLine)])
		if p.headed || len(blocks) == 0 {
			first := line
			if export {
				first = p.line + 1
			}
			blocks = append(blocks, block{start: start, line: first})
		}
		b := &blocks[len(blocks)-1]
		b.end, b.lines = end, b.lines+1
		start = end
	}
	out := &reversed{}
	text := make([]byte, 0, len(all)+1)
	for _, b := range slices.Backward(blocks) {
		text = append(text, all[b.start:b.end]...)
		if text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		for i := range b.lines {
			out.numbers = append(out.numbers, b.line+i)
		}
	}
	out.Reader = bytes.NewReader(text)
	return out, nil
}

func bool01(b bool) int {
	if b {
		return 1
	}
	return 0
}
