package cli_test

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// conformsTo checks the few words of JSON Schema that ours uses, and that nothing is in
// the document that the schema does not name.
func conformsTo(schema map[string]any, v any) error {
	switch schema["type"] {
	case "object":
		o, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%v is no object", v)
		}
		props, _ := schema["properties"].(map[string]any)
		others, _ := schema["additionalProperties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, k := range required {
			if _, ok := o[k.(string)]; !ok {
				return fmt.Errorf("no %s", k)
			}
		}
		for k, x := range o {
			p, ok := props[k].(map[string]any)
			if !ok {
				p, ok = others, others != nil
			}
			if !ok {
				return fmt.Errorf("%s is not in the schema", k)
			}
			if err := conformsTo(p, x); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
	case "array":
		a, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%v is no array", v)
		}
		items, _ := schema["items"].(map[string]any)
		for i, x := range a {
			if err := conformsTo(items, x); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	case "string":
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("%v is no string", v)
		}
		if enum, _ := schema["enum"].([]any); enum != nil && !slices.Contains(enum, any(text)) {
			return fmt.Errorf("%q is none of %v", text, enum)
		}
		if schema["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				return err
			}
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("%v is no boolean", v)
		}
	case "number", "integer":
		if n, ok := v.(float64); !ok || schema["type"] == "integer" && n != math.Trunc(n) {
			return fmt.Errorf("%v is no %s", v, schema["type"])
		}
	case nil: // anything
	default:
		return fmt.Errorf("a schema of %v", schema["type"])
	}
	return nil
}
