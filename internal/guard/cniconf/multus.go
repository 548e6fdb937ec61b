package cniconf

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Multus' plugins: they have no network of their own and call that of another.
var multus = []string{"multus", "multus-shim"}

// embedded tells what a configuration of Multus holds of another network's.
func (d *document) embedded() string {
	for _, e := range d.of(multus...) {
		s, found, err := field(e.fields, "delegates")
		if err != nil || !found {
			continue
		}
		copied := string(s.of(d.raw))
		switch {
		case strings.Contains(copied, `"`+Guard+`"`):
			return "it has a copy of a configuration with the guard in it, which Multus made and we do not change"
		case strings.Contains(copied, `"`+calico+`"`):
			return "it has a copy of Calico's configuration, which Multus made and we do not change"
		}
	}
	return "what it calls is not told by a file"
}

// reference gives the file that a configuration of Multus refers to; nothing if it is
// not of Multus, or has its own copy.
func (d *document) reference() (string, error) {
	for _, e := range d.of(multus...) {
		ref, err := d.text(e.fields, "clusterNetwork")
		switch {
		case err != nil:
			return "", err
		case ref == "":
			continue
		case !filepath.IsAbs(ref):
			return "", fmt.Errorf("%w: Multus calls network %.64q by its name: an object in the cluster would come first, and that cannot be seen here", ErrForeign, ref)
		case !configures(ref):
			return "", fmt.Errorf("%w: Multus calls the first network of directory %.256q", ErrForeign, ref)
		}
		return ref, nil
	}
	return "", nil
}

// referred finds the file that Multus refers to. Its path is one of Multus' container:
// only the name of the file can be relied on.
func referred(dirs []string, ref string) (string, *document, error) {
	var paths []string
	var found *document
	var why error
	for _, dir := range dirs {
		path := filepath.Join(dir, filepath.Base(ref))
		d, err := load(path)
		if err != nil {
			why = errors.Join(why, fmt.Errorf("%s: %w", path, err))
			continue
		}
		paths, found = append(paths, path), d
	}
	switch {
	case len(paths) == 0:
		return "", nil, fmt.Errorf("find %.256q, which Multus refers to: %w", ref, why)
	case len(paths) > 1:
		return "", nil, fmt.Errorf("%w: Multus refers to %.256q, which may be any of %s", ErrForeign, ref, strings.Join(paths, ", "))
	case len(found.of(multus...)) > 0:
		return "", nil, fmt.Errorf("%w: Multus refers to Multus, in %s", ErrForeign, paths[0])
	}
	return paths[0], found, nil
}
