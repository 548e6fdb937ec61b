package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A field is one of an object's, its value as it was written.
type field struct {
	name  string
	value json.RawMessage
}

// An entry is the configuration that a runtime hands to us.
type entry struct {
	given    []field // what it holds beside the delegate
	delegate []field // the entry that ours stands for, verbatim
	kind     string  // the delegate's type: the name of its program
	network  string
	version  string
}

// parseEntry reads a configuration. What cannot be read of it, other than the delegate,
// is missed by the record only.
func parseEntry(b []byte) (*entry, error) {
	all, err := fields(b)
	if err != nil {
		return nil, fmt.Errorf("read the network configuration: %w", err)
	}
	return newEntry(all)
}

func newEntry(all []field) (e *entry, err error) {
	e = &entry{}
	var wrapped json.RawMessage
	for _, f := range all {
		switch f.name {
		case "delegate":
			wrapped = f.value
			continue
		case "name":
			_ = json.Unmarshal(f.value, &e.network)
		case "cniVersion":
			_ = json.Unmarshal(f.value, &e.version)
		}
		e.given = append(e.given, f)
	}
	if wrapped == nil {
		return e, errors.New("the network configuration names no delegate")
	}
	if e.delegate, err = fields(wrapped); err != nil {
		return e, fmt.Errorf("read the delegate's configuration: %w", err)
	}
	e.kind = typeOf(e.delegate)
	return e, properType(e.kind)
}

// properType refuses what is not the name of a program: it must be one in CNI_PATH.
func properType(kind string) error {
	switch {
	case kind == "":
		return errors.New("the delegate has no type")
	case kind == "." || kind == ".." || strings.ContainsAny(kind, "/\\\x00"):
		return fmt.Errorf("the delegate's type %q is not the name of a program", kind)
	case kind == ourType:
		return errors.New("the delegate is this plugin itself")
	}
	return nil
}

// ourType is what entries call this plugin.
const ourType = "plumbline-cni"

// fields reads an object without a look into its values.
func fields(b []byte) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	var out []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: name.(string)} // the decoder gives no other before a value
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return out, nil
}

// own are the fields that mean us, not the delegate.
func own(name string) bool {
	return name == "type" || name == "capabilities" || strings.HasPrefix(name, "plumbline")
}

// configuration writes what the delegate would have been given without us: its entry,
// and whatever the runtime added to ours. Fields may be left out.
func (e *entry) configuration(missing ...string) []byte {
	from := slices.DeleteFunc(without(e.given, missing...), func(f field) bool { return own(f.name) })
	theirs := slices.DeleteFunc(without(e.delegate, missing...), func(f field) bool {
		return slices.ContainsFunc(from, func(g field) bool { return g.name == f.name })
	})
	return object(append(theirs, from...))
}

// object writes fields as they were.
func object(all []field) []byte {
	out := []byte{'{'}
	for i, f := range all {
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(f.name) // a string always can be
		out = append(append(append(out, name...), ':'), f.value...)
	}
	return append(out, '}')
}

// value gives a field of the configuration, nil if there is none.
func (e *entry) value(name string) json.RawMessage {
	for _, f := range e.given {
		if f.name == name {
			return f.value
		}
	}
	return nil
}
