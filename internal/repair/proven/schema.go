package proven

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed schemas
var schemas embed.FS

// Written are the CRDs of Calico whose objects repairs write.
var Written = []string{"blockaffinities", "ipamblocks", "ipamhandles"}

// Tested returns the schemas that a proven version has, by CRD; nil if there are none.
func Tested(version string) map[string][]string {
	text, err := schemas.ReadFile("schemas/" + version + ".txt")
	if err != nil {
		return nil
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		crd, _, _ := strings.Cut(line, ".")
		all[crd] = append(all[crd], line)
	}
	return all
}

// maxDepth bounds how deep a schema is read: those of Calico's IPAM have six levels.
const maxDepth = 20

// Fields reads a CustomResourceDefinition and returns one line per version that is served or
// stored and one per field of it, with all that restricts it; descriptions are left out.
func Fields(crd []byte) ([]string, error) {
	var d struct {
		Spec struct {
			Group, Scope          string
			Names                 struct{ Plural string }
			Conversion            struct{ Strategy string }
			PreserveUnknownFields bool
			Versions              []struct {
				Name            string
				Served, Storage bool
				Schema          struct {
					OpenAPIV3Schema map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal(crd, &d); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var out []string
	for _, v := range d.Spec.Versions {
		if !v.Served && !v.Storage {
			continue
		}
		head := fmt.Sprintf("%s. %s/%s %s served=%t storage=%t conversion=%s", d.Spec.Names.Plural, d.Spec.Group, v.Name, d.Spec.Scope, v.Served, v.Storage, d.Spec.Conversion.Strategy)
		if d.Spec.PreserveUnknownFields {
			head += " preserveUnknownFields" // nothing is pruned or refused
		}
		var fields []string
		if err := walk(d.Spec.Names.Plural, v.Schema.OpenAPIV3Schema, 0, &fields); err != nil {
			return nil, err
		}
		slices.Sort(fields)
		out = append(append(out, head), fields...)
	}
	if len(out) == 0 {
		return nil, errors.New("read the schema: no version is served")
	}
	return out, nil
}

// walk adds the line of a field and those below it. What restricts it is written as it stands, so
// a keyword that is not known here counts too.
func walk(path string, schema map[string]any, depth int, out *[]string) error {
	if depth > maxDepth {
		return fmt.Errorf("read the schema: %.200s is too deep", path)
	}
	line := path + "."
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		switch key {
		case "description", "title", "example", "properties", "items", "additionalProperties":
			continue
		}
		value, err := json.Marshal(schema[key])
		if err != nil {
			return fmt.Errorf("read the schema: %w", err)
		}
		line += " " + key + "=" + string(value)
	}
	*out = append(*out, line)
	for _, key := range []string{"items", "additionalProperties"} {
		if below, ok := schema[key].(map[string]any); ok {
			if err := walk(path+"."+key, below, depth+1, out); err != nil {
				return err
			}
		} else if schema[key] != nil {
			*out = append(*out, fmt.Sprintf("%s.%s. %v", path, key, schema[key]))
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		below, ok := properties[name].(map[string]any)
		if !ok {
			return fmt.Errorf("read the schema: %.200s.%.200s is not an object", path, name)
		}
		if err := walk(path+"."+name, below, depth+1, out); err != nil {
			return err
		}
	}
	return nil
}

// differs names a field that two schemas do not have alike; empty if there is none.
func differs(tested, live map[string][]string) string {
	for _, crd := range Written {
		if len(live[crd]) == 0 {
			return crd + " has no schema"
		}
		for _, line := range live[crd] {
			if !slices.Contains(tested[crd], line) {
				return fieldOf(line) + " is new or has changed"
			}
		}
		for _, line := range tested[crd] {
			if !slices.Contains(live[crd], line) {
				return fieldOf(line) + " is gone or has changed"
			}
		}
	}
	return ""
}

func fieldOf(line string) string {
	path, _, _ := strings.Cut(line, ". ")
	return strings.TrimSuffix(path, ".")
}
