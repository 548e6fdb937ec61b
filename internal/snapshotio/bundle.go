package snapshotio

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A bundle is a tar.gz of sections. A large section is written in parts of this size, because
// tar needs the size of a file before its content.
const partSize = 4 << 20

// Limits of a bundle, which may come from anywhere: its unpacked size, and its rows.
const (
	maxBundle = 4 << 30
	maxRows   = 20_000_000
	// A bundle may take so much memory however small its file is, and perByte for each byte of it:
	// bundles of large clusters take about 40.
	maxSmall = 512 << 20
	perByte  = 200
)

// A Limit bounds what is read of a bundle. Zero is no limit.
type Limit struct {
	Bytes  int64 // unpacked
	Rows   int
	Weight int64 // memory: see Weight
}

// ErrTooMuch means that a bundle has more than its limit.
var ErrTooMuch = errors.New("over the limit")

// A File is a file beside the tables of a bundle. ReadBundle passes over it.
type File struct {
	Name     string // below logs/
	Modified time.Time
	Text     []byte
}

// logDir is the directory of the files beside the tables.
const logDir = "logs"

// WriteBundle writes the snapshot as a stream, and files beside it.
func WriteBundle(w io.Writer, s *model.Snapshot, files ...File) error {
	zip := gzip.NewWriter(w)
	out := &parts{tar: tar.NewWriter(zip), at: s.Meta.Taken.Time()}
	if err := encode(s, out.line); err != nil {
		return err
	}
	if err := out.flush(); err != nil {
		return err
	}
	for i := range files {
		if err := out.beside(&files[i]); err != nil {
			return err
		}
	}
	return errors.Join(out.tar.Close(), zip.Close())
}

func (p *parts) beside(f *File) error {
	h := &tar.Header{Name: path.Join(logDir, path.Clean("/"+f.Name)), Mode: 0o600, Size: int64(len(f.Text)), ModTime: f.Modified}
	err := p.tar.WriteHeader(h)
	if err == nil {
		_, err = p.tar.Write(f.Text)
	}
	return err
}

type parts struct {
	tar  *tar.Writer
	at   time.Time
	file string
	buf  bytes.Buffer
}

func (p *parts) line(file string, line []byte) error {
	if file != p.file || p.buf.Len() > partSize {
		if err := p.flush(); err != nil {
			return err
		}
		p.file = file
	}
	if line != nil {
		p.buf.Write(line)
		p.buf.WriteByte('\n')
	}
	return nil
}

func (p *parts) flush() error {
	if p.file == "" {
		return nil
	}
	h := &tar.Header{Name: path.Join("plumbline", p.file), Mode: 0o600, Size: int64(p.buf.Len()), ModTime: p.at}
	if err := p.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := p.buf.WriteTo(p.tar)
	return err
}

// ReadBundle reads a bundle as a stream.
func ReadBundle(r io.Reader) (*model.Snapshot, error) {
	file := &counting{Reader: r}
	return readBundle(file, Limit{Bytes: maxBundle, Rows: maxRows}, func() int64 { return maxSmall + perByte*file.read })
}

// ReadBundleOf reads a bundle with limits.
func ReadBundleOf(r io.Reader, most Limit) (*model.Snapshot, error) {
	return readBundle(r, most, func() int64 { return most.Weight })
}

// A counting reader counts what was read of a file.
type counting struct {
	io.Reader
	read int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	return n, err
}

func readBundle(r io.Reader, most Limit, weight func() int64) (*model.Snapshot, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("not a bundle: %w", err)
	}
	in := &limited{Reader: zip, left: most.Bytes, most: most.Bytes}
	files := tar.NewReader(in)
	d := decoder{most: most.Rows, mostWeight: weight}
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
		name, ok := strings.CutPrefix(path.Clean(h.Name), "plumbline/")
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if err := d.Section(name, files); err != nil {
			return nil, cmp.Or(in.exceeded(), err) // a line that is cut off cannot be read either
		}
	}
	return d.Snapshot()
}

// A limited reader fails where a LimitReader would end: what is cut off must not look complete.
type limited struct {
	io.Reader
	left, most int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p[:min(int64(len(p)), l.left+1)])
	l.left -= int64(n)
	if over := l.exceeded(); over != nil {
		return 0, over
	}
	return n, err
}

func (l *limited) exceeded() error {
	if l.left >= 0 {
		return nil
	}
	return fmt.Errorf("read bundle: %w: more than %d MiB unpacked", ErrTooMuch, l.most>>20)
}
