package cli_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/schema"
	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
	"plumbline.dev/plumbline/internal/cluster"
)

var updatePages = flag.Bool("update-pages", false, "write what is made from the commands and their types")

// The schemas are made from the types; the files are what is published.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := cli.Documents()
	m := &schemaMaker{sources: map[string]*source{}}
	kinds := map[reflect.Type][]string{}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		kinds[types[kind]] = append(kinds[types[kind]], kind)
	}
	for typ, of := range kinds { // kinds of one form share a schema
		kind := of[0]
		if typ == reflect.TypeFor[cluster.CheckReport]() {
			kind = "CheckReport"
		}
		s, err := m.of(typ)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", strings.Join(of, ", ")+" of "+cluster.APIVersion
		props, _ := s["properties"].(map[string]any)
		props["kind"], props["apiVersion"] = map[string]any{"enum": of, "type": "string"}, map[string]any{"enum": []string{cluster.APIVersion}, "type": "string"}
		want, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if *updatePages {
			if err := os.WriteFile(filepath.Join("../../api/schema", kind+".json"), want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, _ := schema.Of(kind); !bytes.Equal(got, want) {
			t.Errorf("%s: make gen was not run", kind)
		}
	}
	if want := slices.Sorted(maps.Keys(types)); !*updatePages && !slices.Equal(schema.Kinds(), want) {
		t.Errorf("schemas of %v, documents %v", schema.Kinds(), want)
	}
	if r := run(t, 80, "schema"); r.out != strings.Join(schema.Kinds(), "\n")+"\n" {
		t.Error(r)
	}
	if r := run(t, 80, "schema", "nothing"); r.code != 2 || !strings.Contains(r.err, "no such kind: want one of AddressExplanation") {
		t.Error(r)
	}
}

// What encoding/json writes of a document with every field present is what its schema says.
func TestSchemasOfAllFields(t *testing.T) {
	t.Parallel()
	for kind, typ := range cli.Documents() {
		v := reflect.New(typ).Elem()
		fill(v)
		b, err := json.Marshal(v.Interface())
		if err != nil {
			t.Fatal(err)
		}
		s := termtest.Schema(t, kind)
		props, _ := s["properties"].(map[string]any)
		of, _ := props["kind"].(map[string]any)
		if enum, _ := of["enum"].([]any); !slices.Contains(enum, any(kind)) {
			t.Errorf("the schema of %s is of %v", kind, enum)
		}
		withoutValues(s)
		if err := termtest.ConformsTo(s, termtest.Decoded(t, b)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// The schemas say of every field what it means.
func TestFieldsAreDescribed(t *testing.T) {
	t.Parallel()
	for kind := range cli.Documents() {
		for _, field := range undescribed(termtest.Schema(t, kind), kind) {
			t.Errorf("%s has no comment", field)
		}
	}
}

func undescribed(schema map[string]any, path string) (out []string) {
	props, _ := schema["properties"].(map[string]any)
	for name, p := range props {
		p, _ := p.(map[string]any)
		if text, _ := p["description"].(string); text == "" && name != "kind" && name != "apiVersion" {
			out = append(out, path+"."+name)
		}
		out = append(out, undescribed(p, path+"."+name)...)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		out = append(out, undescribed(items, path+"[]")...)
	}
	return out
}

// fill gives every field a value.
func fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(1, 0)
		return
	case *json.RawMessage:
		*x = json.RawMessage(`{}`)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.New(v.Type().Key()).Elem(), e)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		if v.CanInt() {
			v.SetInt(1)
		} else if v.CanUint() {
			v.SetUint(1)
		}
	}
}

// withoutValues removes from a schema which values strings may have.
func withoutValues(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		delete(s, "enum")
		for _, x := range s {
			withoutValues(x)
		}
	case []any:
		for _, x := range s {
			withoutValues(x)
		}
	}
}

// Every document of a command that reads a bundle is of its kind, and what its schema says.
func TestDocuments(t *testing.T) {
	t.Parallel()
	path := bundle(t, "PL2010", nil)
	for args, kind := range map[string]string{
		"check": "CheckReport", "status": "StatusReport", "explain PL2010": "CodePage", "explain PL2010/10.0.0.1": "FindingExplanation", "version": "Version",
		"explain block 10.0.0.0/29": "BlockExplanation", "explain node n1": "NodeExplanation", "explain device cali1": "Lookup",
		"explain pod db-0 -n shop": "PodExplanation",
		"ipam diff " + recordsFile(t, "g", "web-0", 1_800_000_000) + " " + recordsFile(t, "g", "api-3", 1_800_000_100): "IPAMDiff",
		"timeline --logs " + seedLogs: "TimelineSummary", "timeline pod lijiaob/etcd1-0 --logs " + seedLogs: "TimelineReport",
	} {
		full := append(strings.Fields(args), "-o", "json")
		if strings.HasPrefix(args, "check") || strings.HasPrefix(args, "status") || strings.HasPrefix(args, "explain") {
			full = append(full, "--bundle", path)
		}
		r := run(t, 0, full...)
		var is struct{ APIVersion, Kind string }
		if err := json.Unmarshal([]byte(r.out), &is); err != nil || is.Kind != kind || is.APIVersion != cluster.APIVersion {
			t.Errorf("%s: %+v, %v, %s", args, is, err, r.err)
			continue
		}
		if err := termtest.ConformsTo(termtest.Schema(t, kind), termtest.Decoded(t, []byte(r.out))); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, f := range []string{"PL1006", "wolf/policy-only", "wolf/borrowed"} {
		if err := termtest.ConformsTo(termtest.Schema(t, "CheckReport"), termtest.Decoded(t, []byte(run(t, 0, "check", "-o", "json", "--bundle", bundle(t, f, nil)).out))); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	bad := `{"apiVersion": "plumbline.dev/v1alpha1", "kind": "Version", "version": "x", "go": "x", "platform": 1}`
	if termtest.ConformsTo(termtest.Schema(t, "Version"), termtest.Decoded(t, []byte(bad))) == nil {
		t.Error("a number for a string conforms")
	}
	doc, _ := termtest.Decoded(t, []byte(run(t, 0, "check", "-o", "json", "--bundle", path).out)).(map[string]any)
	if found, _ := doc["findings"].([]any); len(found) > 0 {
		one, _ := found[0].(map[string]any)
		was := one["severity"]
		if one["severity"] = "fatal"; termtest.ConformsTo(termtest.Schema(t, "CheckReport"), doc) == nil {
			t.Error("a severity that no constant has conforms")
		}
		one["severity"] = was
	}
	was := doc["taken"]
	if doc["taken"] = "yesterday"; termtest.ConformsTo(termtest.Schema(t, "CheckReport"), doc) == nil {
		t.Error("a time that is none conforms")
	}
	doc["taken"] = was
	delete(doc, "findings")
	if termtest.ConformsTo(termtest.Schema(t, "CheckReport"), doc) == nil {
		t.Error("a report without findings conforms")
	}
}
