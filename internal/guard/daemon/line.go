package daemon

import "bytes"

// A lineAt is a complete line and where it ends in its file.
type lineAt struct {
	text []byte
	end  int64
}

// lines returns the complete lines of a piece that begins at from. What follows the last
// one is not yet written. A full piece without a line end is longer than any valid line and
// is skipped, as an empty line.
func lines(piece []byte, from int64, full bool) []lineAt {
	var out []lineAt
	for {
		line, rest, ok := bytes.Cut(piece, []byte{'\n'})
		if !ok {
			break
		}
		from += int64(len(line)) + 1
		out = append(out, lineAt{line, from})
		piece = rest
	}
	if len(out) == 0 && full && len(piece) > 0 {
		out = append(out, lineAt{nil, from + int64(len(piece))})
	}
	return out
}
