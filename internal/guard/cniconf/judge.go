package cniconf

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// versions are the CNI versions that the guard supports.
var versions = []string{"0.3.1", "0.4.0", "1.0.0", "1.1.0"}

// judge finds the one entry that the guard may wrap or wraps. The error says why there is
// none.
func (d *document) judge() (State, entry, error) {
	no := func(format string, a ...any) (State, entry, error) {
		return Foreign, entry{}, fmt.Errorf("%w: %w", ErrForeign, fmt.Errorf(format, a...))
	}
	ours := d.of(calico, Guard)
	switch {
	case len(ours) == 0 && len(d.of(multus...)) > 0:
		return no("its plugins are %s: %s", d.kinds(), d.embedded())
	case len(ours) == 0:
		return no("none of its plugins is Calico's, only %s", d.kinds())
	case len(ours) > 1:
		return no("more than one of its plugins is Calico's or the guard: %s", d.kinds())
	}
	if err := d.knownVersions(); err != nil {
		return no("%w", err)
	}
	own, state := ours[0], Plain
	behind := own
	if own.kind == Guard {
		state = Patched
		var err error
		if behind, err = d.delegate(own); err != nil {
			return no("%w", err)
		}
		if behind.kind != calico {
			return no("the guard wraps %.64q, which is not Calico's plugin", behind.kind)
		}
	}
	name, err := d.text(behind.fields, "name")
	if err != nil {
		return no("%w", err)
	}
	if name != "" && name != d.name {
		return no("the network is %.64q, but the entry of Calico's plugin names %.64q", d.name, name)
	}
	return state, own, nil
}

// delegate returns the entry that the guard wraps.
func (d *document) delegate(guard entry) (entry, error) {
	for _, m := range guard.fields {
		switch {
		case slices.Contains([]string{"type", "delegate", "capabilities"}, m.key):
		case strings.HasPrefix(m.key, "plumbline"): // field of a later version
		case !d.list && (m.key == "name" || m.key == "cniVersion"):
		default:
			return entry{}, fmt.Errorf("the guard's entry has the unknown field %.64q", m.key)
		}
	}
	s, found, err := field(guard.fields, "delegate")
	if err != nil {
		return entry{}, err
	}
	if !found {
		return entry{}, errors.New("the guard has no delegate")
	}
	return d.entry(s)
}

func (d *document) knownVersions() error {
	version, err := d.text(d.fields, "cniVersion")
	if err != nil {
		return err
	}
	all := []string{version}
	more, found, err := field(d.fields, "cniVersions")
	if err != nil {
		return err
	}
	if found {
		var list []string
		if err := json.Unmarshal(more.of(d.raw), &list); err != nil {
			return errors.New("its cniVersions is not a list of versions")
		}
		all = append(all, list...)
	}
	for _, v := range all {
		if !slices.Contains(versions, v) {
			return fmt.Errorf("its CNI version %.64q is not supported", v)
		}
	}
	return nil
}
