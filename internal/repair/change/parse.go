package change

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// kinds are all changes, by their Key.
var kinds = map[string]func(raw json.RawMessage) (Change, error){
	Ordinals(nil).Key():    parse[Ordinals],
	(*Mend)(nil).Key():     parse[*Mend],
	(*NewBlock)(nil).Key(): parse[*NewBlock],
	(*Count)(nil).Key():    parse[*Count],
	(*Affinity)(nil).Key(): parse[*Affinity],
	(*Endpoint)(nil).Key(): parse[*Endpoint],
	(*Annotate)(nil).Key(): parse[*Annotate],
	(*Evict)(nil).Key():    parse[*Evict],
	(*OnNode)(nil).Key():   parse[*OnNode],
	(*Await)(nil).Key():    parse[*Await],
	(*Restart)(nil).Key():  parse[*Restart],
}

// parse rejects unknown fields: such a field may be a condition that must not be ignored.
func parse[T Change](raw json.RawMessage) (Change, error) {
	var c T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&c)
	return c, err
}

// Take takes the change out of the fields of a step; nil if there is none. It rejects a second one.
func Take(fields map[string]json.RawMessage) (Change, error) {
	var out Change
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		parse, ok := kinds[key]
		if !ok {
			continue
		}
		raw := fields[key]
		delete(fields, key)
		if string(raw) == "null" {
			continue
		}
		c, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if out != nil {
			return nil, fmt.Errorf("it has two changes, %s and %s", out.Key(), key)
		}
		out = c
	}
	return out, nil
}
