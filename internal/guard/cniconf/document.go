package cniconf

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A document is a configuration as libcni reads it: a list of plugins, or a single one.
type document struct {
	raw     []byte
	list    bool
	name    string
	fields  []member
	entries []entry
}

// An entry is one plugin of a document.
type entry struct {
	span
	kind   string
	fields []member
}

// parse reads a document. A document that libcni would not load is errBroken, and so is one
// that two readers could read differently.
func parse(raw []byte) (*document, error) {
	if err := check(raw); err != nil {
		return nil, err
	}
	from := skip(raw, 0)
	whole := span{from, endOfValue(raw, from)}
	d := &document{raw: raw, fields: members(raw, whole)}
	var err error
	if d.name, err = d.text(d.fields, "name"); err != nil {
		return nil, err
	}
	if d.name == "" {
		return nil, fmt.Errorf("%w: it has no name", errBroken)
	}
	plugins, list, err := field(d.fields, "plugins")
	if err != nil {
		return nil, err
	}
	spans := []span{whole}
	if d.list = list; list {
		spans = elements(raw, plugins)
		if kind, _, err := field(d.fields, "type"); err != nil || kind != (span{}) {
			return nil, fmt.Errorf("%w: it is a list and has a type of its own", errBroken)
		}
	}
	if len(spans) == 0 {
		return nil, fmt.Errorf("%w: it has no plugins", errBroken)
	}
	for _, s := range spans {
		e, err := d.entry(s)
		if err != nil {
			return nil, err
		}
		d.entries = append(d.entries, e)
	}
	return d, nil
}

func (d *document) entry(s span) (entry, error) {
	e := entry{span: s, fields: members(d.raw, s)}
	var err error
	if e.kind, err = d.text(e.fields, "type"); err == nil && e.kind == "" {
		err = fmt.Errorf("%w: a plugin has no type", errBroken)
	}
	return e, err
}

// field finds a field. Go's decoder ignores case and takes the last of several fields; a
// map does neither. Where the two would differ it returns an error.
func field(fields []member, key string) (span, bool, error) {
	var out span
	found := false
	for _, m := range fields {
		if !strings.EqualFold(m.key, key) {
			continue
		}
		if found || m.key != key {
			return out, false, fmt.Errorf("%w: %q is ambiguous: it occurs twice or in another case", errBroken, key)
		}
		out, found = m.value, true
	}
	return out, found, nil
}

// text returns a field that is a string; empty if it does not exist.
func (d *document) text(fields []member, key string) (string, error) {
	s, found, err := field(fields, key)
	if err != nil || !found {
		return "", err
	}
	var out string
	if d.raw[s.from] != '"' || json.Unmarshal(s.of(d.raw), &out) != nil {
		return "", fmt.Errorf("%w: %q is not a string", errBroken, key)
	}
	return out, nil
}

// of returns the entries of these types.
func (d *document) of(kinds ...string) []entry {
	var out []entry
	for _, e := range d.entries {
		if slices.Contains(kinds, e.kind) {
			out = append(out, e)
		}
	}
	return out
}

// kinds lists the types of all entries.
func (d *document) kinds() string {
	var out []string
	for _, e := range d.entries {
		out = append(out, fmt.Sprintf("%.64q", e.kind))
	}
	if len(out) > 8 {
		out = append(out[:8], "…")
	}
	return strings.Join(out, ", ")
}
