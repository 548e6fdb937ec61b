package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/internal/repair"
)

// A content is what the directory of a journal holds.
type content struct {
	head    head
	plan    *repair.Plan
	entries []repair.Entry
	begin   int64  // offset of the first entry in the log
	size    int64  // offset after the last valid record
	seq     uint32 // number of the next record
	torn    int64  // bytes after size: a record that a crash cut
}

// read reads the journal whose log is f. With an error it returns what is valid before it. A
// log that another process appends to is read up to its current end.
func read(dir string, f *os.File) (c content, err error) {
	st, err := f.Stat()
	if err != nil {
		return c, err
	}
	if st.Size() > maxLog {
		return c, fmt.Errorf("the log has %d bytes, the limit is %d", st.Size(), maxLog)
	}
	r := newReader(io.NewSectionReader(f, 0, st.Size()), st.Size())
	if c.head, err = r.head(); err != nil {
		return c, err
	}
	if c.head.Plan != filepath.Base(dir) || c.head.Cluster != filepath.Base(filepath.Dir(dir)) {
		return c, fmt.Errorf("%w: it belongs to plan %q of cluster %q", errDamaged, c.head.Plan, c.head.Cluster)
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
