package termtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/schema"
	"plumbline.dev/plumbline/internal/cli/term"
)

// Conforms gives what show prints as JSON, and fails the test unless it is of that kind, and what its schema says.
func Conforms(t *testing.T, kind string, show func(sess *term.Session)) string {
	t.Helper()
	var out bytes.Buffer
	show(&term.Session{Env: term.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}})
	doc := Decoded(t, out.Bytes())
	if err := ConformsTo(Schema(t, kind), doc); err != nil {
		t.Errorf("%s: %v\n%s", kind, err, &out)
	}
	if is, _ := doc.(map[string]any); is["kind"] != kind {
		t.Errorf("a %v is no %s", is["kind"], kind)
	}
	return out.String()
}

// Schema is the published schema of a kind.
func Schema(t *testing.T, kind string) (out map[string]any) {
	t.Helper()
	b, ok := schema.Of(kind)
	if !ok {
		t.Fatalf("no schema of %s", kind)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Decoded is JSON as encoding/json has it without a type.
func Decoded(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return v
}

// ConformsTo checks the few words of JSON Schema that ours uses, and that nothing is in
// the document that the schema does not name.
func ConformsTo(schema map[string]any, v any) error {
	if alternatives, ok := schema["anyOf"].([]any); ok {
		var errs []error
		for _, s := range alternatives {
			s, _ := s.(map[string]any)
			err := ConformsTo(s, v)
			if err == nil {
				return nil
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
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
			if err := ConformsTo(p, x); err != nil {
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
			if err := ConformsTo(items, x); err != nil {
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
