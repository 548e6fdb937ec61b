package cniconf

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// inspect returns the state of a configuration, and why if it is neither patched nor plain.
func inspect(raw []byte) (State, error) {
	d, err := parse(raw)
	if err != nil {
		return Broken, err
	}
	state, _, err := d.judge()
	return state, err
}

// patch inserts the guard, whose program is bin, around Calico's entry. A patched
// configuration is not changed.
func patch(raw []byte, bin string) (patched []byte, changed bool, err error) {
	if bin != Guard {
		return nil, false, fmt.Errorf("the guard's program is named %q: it must be %q", bin, Guard)
	}
	d, err := parse(raw)
	if err != nil {
		return nil, false, err
	}
	state, own, err := d.judge()
	if err != nil {
		return nil, false, err
	}
	if state == Patched {
		return raw, false, nil
	}
	wrapped, err := d.wrap(own)
	if err != nil {
		return nil, false, err
	}
	patched = splice(raw, own.span, wrapped)
	// Verify that unpatch restores the original before anything is written.
	back, _, err := unpatch(patched)
	if err == nil && !bytes.Equal(back, raw) {
		err = errors.New("it could not be removed again")
	}
	if err != nil {
		return nil, false, fmt.Errorf("with the guard in it: %w", err)
	}
	return patched, true, nil
}

// wrap returns the guard's entry around another. Capabilities are copied to the outer
// entry, because libcni passes runtimeConfig only to entries that have them. A
// single-plugin configuration also needs its name and version in the outer entry.
func (d *document) wrap(e entry) ([]byte, error) {
	out := []byte(`{`)
	lift := func(key, before, after string) error {
		s, found, err := field(e.fields, key)
		if found {
			out = slices.Concat(out, []byte(before+`"`+key+`":`), s.of(d.raw), []byte(after))
		}
		return err
	}
	if !d.list {
		if err := errors.Join(lift("name", "", ","), lift("cniVersion", "", ",")); err != nil {
			return nil, err
		}
	}
	out = slices.Concat(out, []byte(`"type":"`+Guard+`","delegate":`), e.of(d.raw))
	err := lift("capabilities", ",", "")
	return append(out, '}'), err
}

// unpatch removes the guard: its delegate takes its place. It accepts more than patch:
// changes around the guard are no reason to keep it.
func unpatch(raw []byte) ([]byte, bool, error) {
	d, err := parse(raw)
	if err != nil {
		return nil, false, err
	}
	guards := d.of(Guard)
	out := raw
	for _, guard := range slices.Backward(guards) { // so that offsets stay valid
		behind, err := d.delegate(guard)
		for err == nil && behind.kind == Guard {
			behind, err = d.delegate(behind)
		}
		if err != nil {
			return nil, false, fmt.Errorf("%w: %w", ErrForeign, err)
		}
		if name, err := d.text(behind.fields, "name"); !d.list && (err != nil || name != d.name) {
			return nil, false, fmt.Errorf("%w: the network is %.64q, and without the guard it would be %.64q", ErrForeign, d.name, name)
		}
		out = splice(out, guard.span, behind.of(raw))
	}
	return out, len(guards) > 0, nil
}

// splice returns doc with the text at s replaced.
func splice(doc []byte, s span, text []byte) []byte {
	return slices.Concat(doc[:s.from], text, doc[s.to:])
}
