package cniconf

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what Patch makes of the fixtures anew")

// fixtures are all files of all nodes that have an entry of Calico's.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*net.d/*calico.conf*")
	own, err2 := filepath.Glob("testdata/*/*net.d/*istio*.conflist")
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, path := range append(paths, own...) {
		if !configures(path) {
			continue
		}
		if out[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) != 11 {
		t.Fatalf("%d fixtures", len(out))
	}
	return out
}

func TestPatchGolden(t *testing.T) {
	t.Parallel()
	for path, raw := range fixtures(t) {
		got, changed, err := patch(raw, Guard)
		if err != nil || !changed {
			t.Fatalf("%s: changed %t, %v", path, changed, err)
		}
		golden := path + ".guarded"
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n%s", path, err, got)
		}
		wrapped(t, path, raw, got)
		if again, changed, err := patch(got, Guard); err != nil || changed || !bytes.Equal(again, got) {
			t.Errorf("%s: patched twice: %t, %v", path, changed, err)
		}
		if back, changed, err := unpatch(got); err != nil || !changed || !bytes.Equal(back, raw) {
			t.Errorf("%s: back: %t, %v", path, changed, err)
		}
		if same, changed, err := unpatch(raw); err != nil || changed || !bytes.Equal(same, raw) {
			t.Errorf("%s: taken out of what has none: %t, %v", path, changed, err)
		}
	}
}

// wrapped holds patch against another reader: all is equal but Calico's entry, and that
// stands behind the guard, with its capabilities before it.
func wrapped(t testing.TB, name string, raw, patched []byte) {
	t.Helper()
	before, after := decode(t, raw), decode(t, patched)
	if before["plugins"] == nil {
		want := map[string]any{"name": before["name"], "cniVersion": before["cniVersion"], "type": Guard, "delegate": before}
		if c, ok := before["capabilities"]; ok {
			want["capabilities"] = c
		}
		if !reflect.DeepEqual(after, want) {
			t.Errorf("%s: %v", name, after)
		}
		return
	}
	for i, p := range before["plugins"].([]any) {
		entry := p.(map[string]any)
		if entry["type"] != "calico" {
			continue
		}
		want := map[string]any{"type": Guard, "delegate": entry}
		if c, ok := entry["capabilities"]; ok {
			want["capabilities"] = c
		}
		before["plugins"].([]any)[i] = want
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%s: is %v\nnot %v", name, after, before)
	}
}

func decode(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return out
}

const plain = `{"name":"n","cniVersion":"1.0.0","plugins":[{"type":"calico"}]}`

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	list := func(entries string) string { return `{"name":"n","cniVersion":"1.0.0","plugins":[` + entries + `]}` }
	for raw, want := range map[string]string{
		``:                                       "unexpected end of JSON",
		plain[:len(plain)-1]:                     "unexpected end of JSON",
		plain + "}":                              "invalid character",
		"\xef\xbb\xbf" + plain:                   "invalid character",
		`[]`:                                     "not a JSON object",
		`null`:                                   "not a JSON object",
		`"x"`:                                    "not a JSON object",
		`{}`:                                     "no name",
		`{"name":""}`:                            "no name",
		`{"name":7}`:                             `"name" is not a string`,
		`{"name":"n"}`:                           "no type",
		`{"name":"n","plugins":{}}`:              "no plugins",
		list(``):                                 "no plugins",
		list(`7`):                                "no type",
		list(`null,{"type":"calico"}`):           "no type",
		list(`{"type":"calico"},{"type":null}`):  `"type" is not a string`,
		list(`{"type":"calico","type":"other"}`): `"type" is ambiguous`,
		list(`{"type":"calico","Type":"other"}`): `"type" is ambiguous`,
		list(`{"Type":"calico"}`):                `"type" is ambiguous`,
		list(`{"type":"calico","capabilities":{},"CAPABILITIES":{}}`):                              `"capabilities" is ambiguous`,
		`{"name":"n","type":"calico","plugins":[{"type":"calico"}]}`:                               "a type of its own",
		`{"name":"n","plugins":[{"type":"calico"}],"plugins":[]}`:                                  `"plugins" is ambiguous`,
		list(`{"type":"bridge"},{"type":"calico-ipam"}`):                                           `only "bridge", "calico-ipam"`,
		list(`{"type":"calico"},{"type":"calico"}`):                                                "more than one",
		list(`{"type":"calico"},{"type":"plumbline-cni","delegate":{"type":"calico"}}`):            "more than one",
		list(`{"type":"plumbline-cni","delegate":{"type":"bridge"}}`):                              `the guard wraps "bridge"`,
		list(`{"type":"plumbline-cni"}`):                                                           "no delegate",
		list(`{"type":"plumbline-cni","delegate":"calico"}`):                                       "no type",
		list(`{"type":"plumbline-cni","delegate":{"type":"calico"},"mode":1}`):                     `unknown field "mode"`,
		list(`{"type":"plumbline-cni","name":"n","delegate":{"type":"calico"}}`):                   `unknown field "name"`,
		list(`{"type":"plumbline-cni","delegate":{"type":"calico","name":"m"}}`):                   `the network is "n", but the entry of Calico's plugin names "m"`,
		list(`{"type":"plumbline-cni","delegate":{"type":"plumbline-cni","delegate":{}}}`):         `the guard wraps "plumbline-cni"`,
		list(`{"type":"calico","name":"m"}`):                                                       `the network is "n", but the entry of Calico's plugin names "m"`,
		`{"name":"n","plugins":[{"type":"calico"}]}`:                                               `CNI version ""`,
		`{"name":"n","cniVersion":"0.2.0","plugins":[{"type":"calico"}]}`:                          `CNI version "0.2.0"`,
		`{"name":"n","cniVersion":"1.2.0","type":"calico"}`:                                        `CNI version "1.2.0"`,
		`{"name":"n","cniVersion":"1.0.0","cniVersions":["1.9.0"],"plugins":[{"type":"calico"}]}`:  `CNI version "1.9.0"`,
		`{"name":"n","cniVersion":"1.0.0","cniVersions":"1.0.0","plugins":[{"type":"calico"}]}`:    "not a list of versions",
		`{"name":"n","cniVersion":"1.0.0","type":"multus","delegates":[{"type":"calico"}]}`:        "of Calico's configuration",
		`{"name":"n","cniVersion":"1.0.0","type":"multus","delegates":[{"type":"plumbline-cni"}]}`: "a configuration with the guard",
		list(`{"type":"calico","x":"` + strings.Repeat("x", maxSize) + `"}`):                       "longer than 1048576 bytes",
		list(`{"type":"calico","x":"` + strings.Repeat("x", maxSize-90) + `"}`):                    "with the guard in it",
		list(`{"type":"calico","x":` + strings.Repeat("[", 1<<19)):                                 "exceeded max depth",
		list(`{"type":"calico","x":` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + `}`):    "nested deeper",
		list(`{"type":"calico","x":` + strings.Repeat("[", 61) + strings.Repeat("]", 61) + `}`):    "with the guard in it",
	} {
		out, changed, err := patch([]byte(raw), Guard)
		if out != nil || changed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: changed %t, %v, not %q", raw, changed, err, want)
		}
		state, err := inspect([]byte(raw))
		if want == "with the guard in it" { // it is the patched one that is refused
			continue
		}
		if broken := errors.Is(err, errBroken) && !errors.Is(err, ErrForeign); err == nil || broken != (state == Broken) || broken == errors.Is(err, ErrForeign) {
			if !strings.Contains(raw, "CAPABILITIES") { // which only a patch looks at
				t.Errorf("%.200s: %s, %v", raw, state, err)
			}
		}
	}
	if _, _, err := patch([]byte(plain), "guard"); err == nil {
		t.Error("a binary that nobody would find again")
	}
}

// What was changed around the guard is no reason to keep it.
func TestUnpatch(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"name":"n","cniVersion":"9","plugins":[{"type":"plumbline-cni","delegate":{"type":"x"}}]}`:                                                           `{"name":"n","cniVersion":"9","plugins":[{"type":"x"}]}`,
		`{"name":"n","plugins":[{"delegate": {"type":"a"} ,"type":"plumbline-cni"},{"type":"o"},{"type":"plumbline-cni","delegate":{"type":"b","longer":1}}]}`: `{"name":"n","plugins":[{"type":"a"},{"type":"o"},{"type":"b","longer":1}]}`,
		`{"name":"n","plugins":[{"type":"plumbline-cni","delegate":{"type":"plumbline-cni","delegate":{"type":"a"}}}]}`:                                        `{"name":"n","plugins":[{"type":"a"}]}`,
		`{"name":"n","plugins":[{"type":"plumbline-cni","plumblineX":1,"delegate":{"type":"a"}}]}`:                                                             `{"name":"n","plugins":[{"type":"a"}]}`,
		` {"name":"n","type":"plumbline-cni","delegate":{"type":"a","name":"n"}} `:                                                                             ` {"type":"a","name":"n"} `,
		`{"name":"n","type":"plumbline-cni","delegate":{"type":"a","name":"m"}}`:                                                                               "",
		`{"name":"n","type":"plumbline-cni","delegate":{"type":"a"}}`:                                                                                          "",
		`{"name":"n","plugins":[{"type":"plumbline-cni","delegate":[]}]}`:                                                                                      "",
		`{"name":"n","plugins":[{"type":"plumbline-cni","mine":1,"delegate":{"type":"a"}}]}`:                                                                   "",
		`{"name":"n","plugins":[{"type":"plumbline-cni","delegate":{"type":"a"}}]`:                                                                             "",
	} {
		got, changed, err := unpatch([]byte(raw))
		if string(got) != want || changed != (want != "") || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %t, %v", raw, got, changed, err)
		}
	}
}

// IPAM is the same before and after the guard wraps the entry.
func TestIPAM(t *testing.T) {
	t.Parallel()
	for path := range fixtures(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, kind := range []string{"host-local", "calico-ipam"} {
			if bytes.Contains(raw, []byte(kind)) {
				want = kind
			}
		}
		for _, file := range []string{path, path + ".guarded"} {
			if got, err := NewFile(file, "").IPAM(); err != nil || got != want {
				t.Errorf("%s: %q, not %q, %v", file, got, want, err)
			}
		}
	}
	if got, err := NewFile(t.TempDir()+"/none", "").IPAM(); err == nil {
		t.Errorf("of no file: %q", got)
	}
}
