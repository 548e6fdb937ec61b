package cniconf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"plumbline.dev/plumbline/internal/hostfile"
)

// Runtimes load only files with these extensions.
var endings = []string{".conf", ".conflist", ".json"}

const maxEntries = 4096

func configures(path string) bool { return slices.Contains(endings, filepath.Ext(path)) }

// Effective returns the file from which the runtime loaded its network: in the directory
// whose first loadable file, by name, has the network name that the runtime reports, it is
// that file. If that is a configuration of Multus that refers to another file, it is the
// other file.
func Effective(dirs []string, loadedName string) (path string, err error) {
	if loadedName == "" {
		return "", errors.New("find the network configuration: the runtime reports none as loaded")
	}
	var found []string
	var doc *document
	var why error
	for _, dir := range dirs {
		path, d, err := first(dir)
		if err == nil && d.name != loadedName {
			err = fmt.Errorf("%s is the first file and configures network %.64q", path, d.name)
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
		return "", fmt.Errorf("%w: network %.64q may be configured by any of %s", ErrForeign, loadedName, strings.Join(found, ", "))
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

// first returns the first loadable file of a directory.
func first(dir string) (string, *document, error) {
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = d.Close() }()
	names, more, err := hostfile.Names(d, maxEntries-1)
	if err != nil {
		return "", nil, err
	}
	if more {
		return "", nil, fmt.Errorf("%s has %d files or more", dir, maxEntries)
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

// load reads a file as a runtime does: it follows links, and reads a list only if the
// extension is .conflist.
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
		err = fmt.Errorf("%w: the extension .conflist and a list of plugins must come together", errBroken)
	}
	return d, err
}

// content reads a regular file of at most maxSize bytes.
func content(f *os.File) ([]byte, error) {
	raw, err := hostfile.ReadOpen(f, maxSize)
	if errors.Is(err, hostfile.ErrTooBig) {
		err = fmt.Errorf("%w: %s has more than %d bytes", errBroken, f.Name(), maxSize)
	}
	return raw, err
}
