package cniconf

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// The plugins of Multus: they have no network of their own and call another network's
// plugins.
var multus = []string{"multus", "multus-shim"}

// embedded describes the copy of another network's configuration in a configuration of
// Multus.
func (d *document) embedded() string {
	for _, e := range d.of(multus...) {
		s, found, err := field(e.fields, "delegates")
		if err != nil || !found {
			continue
		}
		copied := string(s.of(d.raw))
		switch {
		case strings.Contains(copied, `"`+Guard+`"`):
			return "it holds a copy, made by Multus, of a configuration with the guard, which the guard does not change"
		case strings.Contains(copied, `"`+calico+`"`):
			return "it holds a copy, made by Multus, of Calico's configuration, which the guard does not change"
		}
	}
	return "it does not name the file of the network that it calls"
}

// reference returns the file that a configuration of Multus refers to; empty if it is not
// of Multus, or holds its own copy.
func (d *document) reference() (string, error) {
	for _, e := range d.of(multus...) {
		ref, err := d.text(e.fields, "clusterNetwork")
		switch {
		case err != nil:
			return "", err
		case ref == "":
			continue
		case !filepath.IsAbs(ref):
			return "", fmt.Errorf("%w: Multus calls network %.64q by name: an object in the cluster would have precedence, and the guard daemon cannot read it", ErrForeign, ref)
		case !configures(ref):
			return "", fmt.Errorf("%w: Multus calls the first network of directory %.256q", ErrForeign, ref)
		}
		return ref, nil
	}
	return "", nil
}

// referred finds the file that Multus refers to. The path is one in Multus' container, so
// only the name of the file is used.
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
