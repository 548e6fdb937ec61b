package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/internal/repair"
)

// A content is all that a journal's directory holds.
type content struct {
	head    head
	plan    *repair.Plan
	entries []repair.Entry
	begin   int64  // of the first entry in the log
	size    int64  // of what is good of the log
	seq     uint32 // of the next record
	torn    int64  // bytes after the last record
}

// read reads the journal whose log is f. What was good before an error comes with it. A
// log that somebody appends to is read as far as it goes now.
func read(dir string, f *os.File) (c content, err error) {
	st, err := f.Stat()
	if err != nil {
		return c, err
	}
	if st.Size() > maxLog {
		return c, fmt.Errorf("the log has %d bytes, at most %d are read", st.Size(), maxLog)
	}
	r := newReader(io.NewSectionReader(f, 0, st.Size()), st.Size())
	if c.head, err = r.head(); err != nil {
		return c, err
	}
	if c.head.Plan != filepath.Base(dir) || c.head.Cluster != filepath.Base(filepath.Dir(dir)) {
		return c, fmt.Errorf("%w: it is of plan %q of cluster %q", ErrDamaged, c.head.Plan, c.head.Cluster)
	}
	raw, err := readPlan(dir, &c.head)
	if err != nil {
		return c, fmt.Errorf("read plan: %w", err)
	}
	if c.plan, err = c.head.decode(raw); err != nil {
		return c, err
	}
	c.begin = r.at
	c.entries, err = r.entries()
	c.size, c.seq = r.at, r.seq
	if errors.Is(err, errTorn) {
		c.torn, err = st.Size()-r.at, nil
	}
	return c, err
}
