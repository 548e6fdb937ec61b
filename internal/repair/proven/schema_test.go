package proven

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// crd reads a CRD as the API server of a lab with Calico v3.31.0 returned it.
func crd(t *testing.T, plural string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", plural+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func fields(t *testing.T, crd map[string]any) []string {
	t.Helper()
	b, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Fields(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// spec is the schema of the CRD's spec.
func spec(crd map[string]any) map[string]any {
	version := crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	return schema["properties"].(map[string]any)["spec"].(map[string]any)
}

// A changed, a new or a removed field refuses; another description does not.
func TestMutantsOfSchemas(t *testing.T) {
	t.Parallel()
	live := map[string][]string{}
	for _, plural := range Written {
		live[plural] = fields(t, crd(t, plural))
	}
	if why := differs(Tested("v3.31.0"), live); why != "" {
		t.Fatalf("the schemas of the tested version: %s", why)
	}
	property := func(s map[string]any, name string) map[string]any {
		return s["properties"].(map[string]any)[name].(map[string]any)
	}
	for name, test := range map[string]struct {
		mutate func(s map[string]any)
		want   string // a part of why; empty: accepted
	}{
		"another description": {func(s map[string]any) { property(s, "affinity")["description"] = "other" }, ""},
		"another type":        {func(s map[string]any) { property(s, "affinity")["type"] = "integer" }, "ipamblocks.spec.affinity"},
		"another item":        {func(s map[string]any) { property(s, "unallocated")["items"].(map[string]any)["type"] = "string" }, "ipamblocks.spec.unallocated.items"},
		"not nullable":        {func(s map[string]any) { delete(property(s, "allocations")["items"].(map[string]any), "nullable") }, "ipamblocks.spec.allocations.items"},
		"a new field":         {func(s map[string]any) { s["properties"].(map[string]any)["claimed"] = map[string]any{"type": "string"} }, "ipamblocks.spec.claimed"},
		"a new required one":  {func(s map[string]any) { s["required"] = append(s["required"].([]any), "claimed") }, "ipamblocks.spec"},
		"one less required":   {func(s map[string]any) { s["required"] = s["required"].([]any)[1:] }, "ipamblocks.spec"},
		"a removed field":     {func(s map[string]any) { delete(s["properties"].(map[string]any), "sequenceNumber") }, "ipamblocks.spec.sequenceNumber"},
		"a rule":              {func(s map[string]any) { s["x-kubernetes-validations"] = []any{map[string]any{"rule": "true"}} }, "ipamblocks.spec"},
		"any key":             {func(s map[string]any) { property(s, "sequenceNumberForAllocation")["additionalProperties"] = true }, "ipamblocks.spec.sequenceNumberForAllocation"},
	} {
		mutant := crd(t, "ipamblocks")
		test.mutate(spec(mutant))
		changed := maps.Clone(live)
		changed["ipamblocks"] = fields(t, mutant)
		if why := differs(Tested("v3.31.0"), changed); (why == "") != (test.want == "") || !strings.Contains(why, test.want) {
			t.Errorf("%s: %q", name, why)
		}
	}
	other := maps.Clone(live)
	delete(other, "ipamhandles")
	if differs(Tested("v3.31.0"), other) == "" {
		t.Error("a CRD without a schema is accepted")
	}
	for name, mutate := range map[string]func(spec map[string]any){
		"another version": func(spec map[string]any) { spec["versions"].([]any)[0].(map[string]any)["name"] = "v3" },
		"two versions": func(spec map[string]any) {
			spec["versions"] = append(spec["versions"].([]any), map[string]any{"name": "v2", "served": true})
		},
		"nothing is refused": func(spec map[string]any) { spec["preserveUnknownFields"] = true },
	} {
		mutant := crd(t, "ipamblocks")
		mutate(mutant["spec"].(map[string]any))
		other = maps.Clone(live)
		other["ipamblocks"] = fields(t, mutant)
		if differs(Tested("v3.31.0"), other) == "" {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Which versions have the same schemas, as far as repairs write: what is accepted for another patch
// of a minor would be seen if it came between these. The type of affinities came with 3.30.
func TestVersionsWithEqualSchemas(t *testing.T) {
	t.Parallel()
	files, err := schemas.ReadDir("schemas")
	if err != nil {
		t.Fatal(err)
	}
	group := map[string]string{}
	for _, f := range files {
		v := strings.TrimSuffix(f.Name(), ".txt")
		switch {
		case Before(v, 3, 23):
			group[v] = "no sequence numbers"
		case Before(v, 3, 30):
			group[v] = "no types of affinities"
		default:
			group[v] = "all"
		}
	}
	for a := range group {
		for b := range group {
			if why := differs(Tested(a), Tested(b)); (why == "") != (group[a] == group[b]) {
				t.Errorf("%s and %s: %q", a, b, why)
			}
		}
	}
}

// Every version that is proven with the Kubernetes datastore has its schemas.
func TestProvenVersionsHaveSchemas(t *testing.T) {
	t.Parallel()
	for _, v := range Versions("kdd") {
		if s := Tested(v); !slices.Equal(slices.Sorted(maps.Keys(s)), Written) {
			t.Errorf("%s: %q", v, slices.Sorted(maps.Keys(s)))
		}
	}
}

func FuzzFields(f *testing.F) {
	b, err := os.ReadFile("testdata/ipamhandles.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Fields(b) })
}
