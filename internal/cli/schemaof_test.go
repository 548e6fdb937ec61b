package cli_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// A schemaMaker makes JSON Schemas of types: descriptions are the comments of fields, enums the constants of a type.
type schemaMaker struct {
	sources map[string]*source // by import path
}

// A source is what a package's files say of its types.
type source struct {
	fields map[string]string   // comment, by TYPE.FIELD
	types  map[string]string   // comment, by type
	values map[string][]string // constants, by type
}

const module = "plumbline.dev/plumbline/"

func (m *schemaMaker) of(t reflect.Type) (map[string]any, error) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}, nil
	case t == reflect.TypeFor[model.Time]():
		known := map[string]any{"type": "string", "format": "date-time"}
		return map[string]any{"anyOf": []any{known, map[string]any{"type": "string", "enum": []any{""}}}}, nil
	case t == reflect.TypeFor[model.Table]():
		var names []string
		for i := model.Table(0); new(model.Table).UnmarshalText([]byte(i.String())) == nil; i++ {
			names = append(names, i.String())
		}
		return map[string]any{"type": "string", "enum": names}, nil
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return map[string]any{}, nil
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}, nil
	case t == reflect.TypeFor[repair.Step]():
		out, err := m.object(t)
		out["additionalProperties"] = map[string]any{"description": "the change, named by its kind"}
		return out, err
	case t.Implements(reflect.TypeFor[json.Marshaler]()), reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return nil, fmt.Errorf("%s writes its own JSON", t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.of(t.Elem())
	case reflect.Slice, reflect.Array:
		items, err := m.of(t.Elem())
		return map[string]any{"type": "array", "items": items}, err
	case reflect.Map:
		values, err := m.of(t.Elem())
		return map[string]any{"type": "object", "additionalProperties": values}, err
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}, nil
	case reflect.Float64:
		return map[string]any{"type": "number"}, nil
	case reflect.String:
		out := map[string]any{"type": "string"}
		if s, err := m.source(t.PkgPath()); err != nil {
			return nil, err
		} else if values := s.values[t.Name()]; len(values) > 0 {
			out["enum"] = values
		}
		return out, nil
	case reflect.Struct:
		return m.object(t)
	default:
		return nil, fmt.Errorf("%s has no schema", t)
	}
}

func (m *schemaMaker) object(t reflect.Type) (map[string]any, error) {
	props, required := map[string]any{}, []string{}
	err := m.fields(t, props, &required)
	return map[string]any{"type": "object", "properties": props, "required": required}, err
}

func (m *schemaMaker) fields(t reflect.Type, props map[string]any, required *[]string) error {
	s, err := m.source(t.PkgPath())
	if err != nil {
		return err
	}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			if err := m.fields(f.Type, props, required); err != nil {
				return err
			}
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		if name == "-" || name == "" || !f.IsExported() {
			continue
		}
		p, err := m.of(f.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		c, err := m.describe(s.fields[t.Name()+"."+f.Name], f.Type)
		if err != nil {
			return err
		}
		if c != "" {
			p["description"] = c
		}
		if strings.Contains(rest, "omit") {
			if known, ok := p["anyOf"].([]any); ok { // a time that is there
				delete(p, "anyOf")
				maps.Copy(p, known[0].(map[string]any))
			}
		} else {
			*required = append(*required, name)
		}
		props[name] = p
	}
	return nil
}

// describe gives the comment of a field, else that of the type of its values.
func (m *schemaMaker) describe(comment string, t reflect.Type) (string, error) {
	if comment != "" {
		return comment, nil
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	s, err := m.source(t.PkgPath())
	if err != nil {
		return "", err
	}
	return s.types[t.Name()], nil
}

// source reads the files of a package of ours; others have nothing to say.
func (m *schemaMaker) source(path string) (*source, error) {
	if s := m.sources[path]; s != nil {
		return s, nil
	}
	s := &source{fields: map[string]string{}, types: map[string]string{}, values: map[string][]string{}}
	m.sources[path] = s
	if !strings.HasPrefix(path, module) {
		return s, nil
	}
	files, err := filepath.Glob(filepath.Join("..", "..", strings.TrimPrefix(path, module), "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no source of %s", path)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				s.read(d)
			}
		}
	}
	return s, nil
}

func (s *source) read(d *ast.GenDecl) {
	for _, x := range d.Specs {
		switch x := x.(type) {
		case *ast.TypeSpec:
			s.types[x.Name.Name] = text(d.Doc) + text(x.Doc)
			if t, ok := x.Type.(*ast.StructType); ok {
				for _, f := range t.Fields.List {
					for _, n := range f.Names {
						s.fields[x.Name.Name+"."+n.Name] = text(f.Doc) + text(f.Comment)
					}
				}
			}
		case *ast.ValueSpec:
			of, ok := x.Type.(*ast.Ident)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, v := range x.Values {
				if l, ok := v.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if v, err := strconv.Unquote(l.Value); err == nil && !slices.Contains(s.values[of.Name], v) {
						s.values[of.Name] = append(s.values[of.Name], v)
					}
				}
			}
		}
	}
}

func text(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
