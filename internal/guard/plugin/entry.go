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

// A field is a field of a JSON object, with its value as it was written.
type field struct {
	name  string
	value json.RawMessage
}

// An entry is the configuration that the runtime passes to this plugin.
type entry struct {
	given    []field // its fields, without the delegate
	delegate []field // the wrapped plugin's entry, verbatim
	kind     string  // the delegate's type: the name of its program
	network  string
	version  string
}

// parseEntry reads a configuration. Fields other than the delegate that cannot be read are
// only missing in the record.
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
		return e, errors.New("the network configuration has no delegate")
	}
	if e.delegate, err = fields(wrapped); err != nil {
		return e, fmt.Errorf("read the delegate's configuration: %w", err)
	}
	e.kind = typeOf(e.delegate)
	return e, properType(e.kind)
}

// properType refuses a type that is not a file name: the program must be in CNI_PATH.
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

// ourType is the type of this plugin in CNI configurations.
const ourType = "plumbline-cni"

// fields reads an object and leaves its values undecoded.
func fields(b []byte) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var out []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: name.(string)} // before a value the decoder returns only strings
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON object")
	}
	return out, nil
}

// own reports whether a field is the guard's own, not the delegate's.
func own(name string) bool {
	return name == "type" || name == "capabilities" || strings.HasPrefix(name, "plumbline")
}

// configuration returns the configuration that the delegate would get without the guard:
// its own entry and the fields that the runtime added to the guard's. Fields in missing are
// left out.
func (e *entry) configuration(missing ...string) []byte {
	from := slices.DeleteFunc(without(e.given, missing...), func(f field) bool { return own(f.name) })
	theirs := slices.DeleteFunc(without(e.delegate, missing...), func(f field) bool {
		return slices.ContainsFunc(from, func(g field) bool { return g.name == f.name })
	})
	return object(append(theirs, from...))
}

// object writes fields with their values unchanged.
func object(all []field) []byte {
	out := []byte{'{'}
	for i, f := range all {
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(f.name) // marshalling a string never fails
		out = append(append(append(out, name...), ':'), f.value...)
	}
	return append(out, '}')
}

// value returns a field of the configuration, nil if there is none.
func (e *entry) value(name string) json.RawMessage {
	for _, f := range e.given {
		if f.name == name {
			return f.value
		}
	}
	return nil
}
