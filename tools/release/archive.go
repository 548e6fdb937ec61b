package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"time"
)

// A file of an archive. Archives have no owners, no times but the commit's, and a fixed order.
type file struct {
	name string
	mode int64
	body []byte
}

// archives writes one archive per platform and returns their names.
func (d *dist) archives(o options, p *programs) (map[platform]string, error) {
	texts, err := read(o, "LICENSE", "NOTICE", "README.md", "THIRD_PARTY_LICENSES.txt")
	if err != nil {
		return nil, err
	}
	out := map[platform]string{}
	for _, at := range p.users {
		b, err := os.ReadFile(p.file(userProgram, at))
		if err != nil {
			return nil, err
		}
		files := append([]file{{at.exe(userProgram), 0o755, b}}, texts...)
		name := fmt.Sprintf("plumbline_%s_%s", strings.TrimPrefix(o.version, "v"), at)
		packed, ext, err := pack(at, files, d.src.date)
		if err != nil {
			return nil, err
		}
		out[at] = name + ext
		if err := d.put(name+ext, packed); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func pack(at platform, files []file, date time.Time) (b []byte, ext string, err error) {
	if at.os == "windows" {
		b, err = zipped(files, date)
		return b, ".zip", err
	}
	b, err = targz(files, date)
	return b, ".tar.gz", err
}

func read(o options, names ...string) ([]file, error) {
	var out []file
	for _, name := range names {
		b, err := os.ReadFile(o.path(name))
		if err != nil {
			return nil, err
		}
		out = append(out, file{name, 0o644, b})
	}
	return out, nil
}

func tarred(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: date, Format: tar.FormatPAX}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}

func targz(files []file, date time.Time) ([]byte, error) {
	plain, err := tarred(files, date)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // its header has no name and no time
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func zipped(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(os.FileMode(f.mode)) //nolint:gosec // permission bits
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
