package parse

import (
	"bytes"
	"io"
	"os"

	"plumbline.dev/plumbline/internal/timeline"
)

// A grownFile is a file that grows, and how far it was read.
type grownFile struct {
	path   string
	offset int64
	lines  uint32  // that were read
	parser *Parser // nil before the first line
	file   timeline.File
}

// maxGrown bounds how much of a file is held at once.
const maxGrown = 64 << 20

// grown gives the whole lines that a file has more than before. A file that is shorter than
// before is read from its beginning.
func (g *grownFile) grown() ([]byte, error) {
	f, err := os.Open(g.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < g.offset {
		g.offset, g.lines = 0, 0
	}
	text, err := io.ReadAll(io.NewSectionReader(f, g.offset, min(st.Size()-g.offset, maxGrown)))
	if err != nil {
		return nil, err
	}
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 || len(text) < maxGrown { // a longer line is cut
		text = text[:end+1]
	}
	g.offset += int64(len(text))
	return text, nil
}
