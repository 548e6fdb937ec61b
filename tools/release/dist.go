package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// A dist is the directory of results.
type dist struct {
	dir  string
	src  source
	sums map[string]string // of each file, by its name
	// digests are what a registry will have, by its name.
	digests map[string]string
}

const (
	sumsName = "checksums.txt"
	// marker is in a directory that may be replaced.
	marker = ".plumbline-release"
)

func newDist(dir string, src source) (*dist, error) {
	_, err := os.Stat(dir)
	if err == nil {
		if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
			return nil, fmt.Errorf("%s exists and is not a release: remove it", dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // for everybody
		return nil, err
	}
	d := &dist{dir: dir, src: src, sums: map[string]string{}, digests: map[string]string{}}
	return d, os.WriteFile(filepath.Join(dir, marker), nil, 0o600)
}

// put writes a result, whose sum goes into checksums.txt.
func (d *dist) put(name string, b []byte) error {
	sum := sha256.Sum256(b)
	d.sums[name] = hex.EncodeToString(sum[:])
	return os.WriteFile(filepath.Join(d.dir, name), b, 0o644) //nolint:gosec // for everybody
}

// checksums are all sums, as sha256sum writes and checks them.
func (d *dist) checksums() []byte {
	var b bytes.Buffer
	for _, name := range d.names() {
		fmt.Fprintf(&b, "%s  %s\n", d.sums[name], name)
	}
	return b.Bytes()
}

func (d *dist) names() []string { return slices.Sorted(maps.Keys(d.sums)) }

// finish writes checksums, provenance and their signatures.
func (d *dist) finish(o options, k *key) error {
	sums := d.checksums()
	if err := os.WriteFile(filepath.Join(d.dir, sumsName), sums, 0o644); err != nil { //nolint:gosec // for everybody
		return err
	}
	statement, err := d.provenance(o)
	if err != nil {
		return err
	}
	if k == nil {
		return os.WriteFile(filepath.Join(d.dir, "provenance.json"), statement, 0o644) //nolint:gosec // for everybody
	}
	sig, err := k.blob(sums)
	if err != nil {
		return err
	}
	envelope, err := k.envelope(statement)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(d.dir, sumsName+".sig"), sig, 0o644),               //nolint:gosec // for everybody
		os.WriteFile(filepath.Join(d.dir, "provenance.intoto.json"), envelope, 0o644), //nolint:gosec // for everybody
		os.WriteFile(filepath.Join(d.dir, "release.pub"), k.public(), 0o644))          //nolint:gosec // for everybody
}
