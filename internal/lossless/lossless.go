// Package lossless reads JSON into a struct without losing anything: it keeps unknown fields
// and the difference between absent, null and zero. Reading and writing again gives an equal
// JSON value.
package lossless

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Extra holds the fields of the JSON object that the struct does not have.
type Extra = map[string]json.RawMessage

// Decode reads one JSON object.
func Decode(b []byte, v any) (Extra, error) {
	if t := bytes.TrimLeft(b, " \t\r\n"); len(t) == 0 || t[0] != '{' {
		return nil, errors.New("not a JSON object") // json would read null as an empty one
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("more than one JSON value")
		}
		return nil, nil
	}
	if !strings.Contains(err.Error(), "unknown field") {
		return nil, err
	}
	into := reflect.ValueOf(v).Elem()
	into.SetZero()
	if err := json.Unmarshal(b, v); err != nil {
		return nil, err
	}
	var all Extra
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	known := names(into.Type())
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { return known[strings.ToLower(k)] })
	return all, nil
}

// Encode writes the struct and the fields in extra.
func Encode(v any, extra Extra) ([]byte, error) {
	out, err := json.Marshal(v)
	if err != nil || len(extra) == 0 {
		return out, err
	}
	if len(out) < 2 || out[len(out)-1] != '}' {
		return nil, fmt.Errorf("%T is not a JSON object", v)
	}
	out = out[:len(out)-1]
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		key, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), extra[k]...)
	}
	return append(out, '}'), nil
}

func names(t reflect.Type) map[string]bool {
	out := make(map[string]bool, t.NumField())
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag != "-" {
			out[strings.ToLower(tag)] = true
		}
	}
	return out
}

// An Opt is a field that may be absent, null or set. It is written as it was read if its tag
// has omitzero. Invariant: Null implies Set.
type Opt[T any] struct {
	V         T
	Set, Null bool
}

// Some is a field with a value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Set: true} }

// IsZero reports whether the field is absent.
func (o Opt[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes null or the value.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}

// UnmarshalJSON is not called for absent fields.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set, o.Null = true, string(b) == "null" // the last one counts if a field occurs twice
	if o.Null {
		return nil
	}
	return json.Unmarshal(b, &o.V)
}
