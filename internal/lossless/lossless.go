// Package lossless reads JSON into a struct without losing what the struct does not
// know: unknown fields, and the difference between absent, null and zero. What is read
// and written again is the same. It knows nothing of what the JSON means.
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

// Extra holds the fields that a struct does not know.
type Extra = map[string]json.RawMessage

// Decode reads one JSON object.
func Decode(b []byte, v any) (Extra, error) {
	if t := bytes.TrimLeft(b, " \t\r\n"); len(t) == 0 || t[0] != '{' {
		return nil, errors.New("not an object") // null would pass for an empty one
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("more than one value")
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

// Encode writes the struct and the fields that it does not know.
func Encode(v any, extra Extra) ([]byte, error) {
	out, err := json.Marshal(v)
	if err != nil || len(extra) == 0 {
		return out, err
	}
	if len(out) < 2 || out[len(out)-1] != '}' {
		return nil, fmt.Errorf("%T is no object", v)
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

// An Opt is a field that may be absent, null or there. It is written as it was read
// if its tag says omitzero.
type Opt[T any] struct {
	V         T
	Set, Null bool
}

// Some is a field that is there.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Set: true} }

// IsZero tells that the field was absent.
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
	o.Set, o.Null = true, string(b) == "null" // of a field that stands twice the last holds
	if o.Null {
		return nil
	}
	return json.Unmarshal(b, &o.V)
}
