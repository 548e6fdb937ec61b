package cniconf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Runtimes look at files with these endings only.
var endings = []string{".conf", ".conflist", ".json"}

const maxEntries = 4096

func configures(path string) bool { return slices.Contains(endings, filepath.Ext(path)) }

// Effective gives the file from which the runtime has its network: the first one, by
// name, that can be loaded, of that directory whose first one has the name that the runtime
// reports. If that is Multus', and it calls another by its file, it is that file.
func Effective(dirs []string, loadedName string) (path string, err error) {
	if loadedName == "" {
		return "", errors.New("find the network's configuration: the runtime reports none as loaded")
	}
	var found []string
	var doc *document
	var why error
	for _, dir := range dirs {
		path, d, err := first(dir)
		if err == nil && d.name != loadedName {
			err = fmt.Errorf("%s is first, and it is of network %.64q", path, d.name)
		}
		if err != nil {
			why = errors.Join(why, err)
			continue
		}
		found, doc = append(found, path), d
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("find the configuration of network %.64q, which the runtime has loaded: %w", loadedName, why)
	case 1:
	default:
		return "", fmt.Errorf("%w: network %.64q may be that of any of %s", ErrForeign, loadedName, strings.Join(found, ", "))
	}
	ref, err := doc.reference()
	if err != nil {
		return "", fmt.Errorf("%s: %w", found[0], err)
	}
	if ref == "" {
		return found[0], nil
	}
	path, _, err = referred(dirs, ref)
	return path, err
}

// first gives the first file of a directory that can be loaded.
func first(dir string) (string, *document, error) {
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	if len(names) == maxEntries {
		return "", nil, fmt.Errorf("%s has too many files", dir)
	}
	slices.SortFunc(names, strings.Compare)
	why := fmt.Errorf("%s: no configuration: %w", dir, fs.ErrNotExist)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !configures(path) {
			continue
		}
		doc, err := load(path)
		if err == nil {
			return path, doc, nil
		}
		why = errors.Join(why, fmt.Errorf("%s: %w", path, err))
	}
	return "", nil, why
}

// load reads a file as a runtime does: through links, and a list only if its name says so.
func load(path string) (*document, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := content(f)
	if err != nil {
		return nil, err
	}
	d, err := parse(raw)
	if err == nil && d.list != (filepath.Ext(path) == ".conflist") {
		err = fmt.Errorf("%w: its name says that it is a list, or its content does, not both", ErrBroken)
	}
	return d, err
}

// content reads a regular file that is not too large.
func content(f *os.File) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", f.Name())
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(raw) > maxSize {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrBroken, f.Name(), maxSize)
	}
	return raw, err
}
