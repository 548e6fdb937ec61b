package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// entryOf finds the guard's entry in a network configuration, a list or a single plugin, or
// that of the plugin that the guard wraps. It returns the entry as a runtime would pass it.
func entryOf(config []byte, kind string) (*entry, error) {
	all, err := fields(config)
	if err != nil {
		return nil, fmt.Errorf("read the network configuration: %w", err)
	}
	var common []field
	entries := [][]field{all}
	for _, f := range all {
		switch f.name {
		case "name", "cniVersion":
			common = append(common, f)
		case "plugins":
			if entries, err = eachOf(f.value); err != nil {
				return nil, fmt.Errorf("read the network's plugins: %w", err)
			}
		}
	}
	for _, e := range entries {
		switch typeOf(e) {
		case "":
		case ourType:
			return newEntry(append(without(e, "name", "cniVersion"), common...))
		case kind: // the guard is off, and its queue is not empty
			return newEntry(append(common, field{"delegate", object(e)}))
		}
	}
	return nil, errors.New("the network configuration has no entry of the guard or of its delegate")
}

// eachOf reads a list of objects.
func eachOf(list json.RawMessage) ([][]field, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(list, &raw); err != nil {
		return nil, err
	}
	out := make([][]field, 0, len(raw))
	for _, r := range raw {
		f, err := fields(r)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func typeOf(e []field) (kind string) {
	for _, f := range e {
		if f.name == "type" {
			_ = json.Unmarshal(f.value, &kind)
		}
	}
	return kind
}

func without(e []field, names ...string) []field {
	return slices.DeleteFunc(slices.Clone(e), func(f field) bool { return slices.Contains(names, f.name) })
}
