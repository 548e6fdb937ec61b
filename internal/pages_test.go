package internal_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var updatePages = flag.Bool("update-pages", false, "write the pages that are made from the chart")

// Reference pages of the chart's values, of the CRDs and of the roles are made from their files.
func TestPages(t *testing.T) {
	t.Parallel()
	values, err := os.ReadFile("../charts/plumbline/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{
		"chart.md": "# Values of the Helm chart\n\n<!-- Made from charts/plumbline/values.yaml by make gen. -->\n\n```yaml\n" + string(values) + "```\n",
		"crds.md":  "# Custom resources\n\n<!-- Made from the CRDs by make gen. -->\n\nCluster-wide objects of the group `plumbline.dev`, version `v1alpha1`. `kubectl explain findings.status` shows the same. [controller.md](controller.md) says what they are for.\n" + crds(t),
		"rbac.md":  "# Permissions\n\n<!-- Made from deploy/reader.yaml and the chart, with every option on, by make gen. -->\n\n`plumbline-reader` in all namespaces is in [reader.yaml](../deploy/reader.yaml), the others are made by the chart. A Role in `kube-system` is in the namespace that the value `calicoNamespace` names.\n\nWhich of them you need: [agent.md](agent.md#permissions), [repair.md](repair.md#permissions), [controller.md](controller.md). Admission policies limit them further.\n" + roles(t),
	}
	for _, name := range []string{"check.md", "ci.md", "monitoring.md"} {
		pages[name] = withMadeParts(t, name)
	}
	for name, want := range pages {
		path := filepath.Join("..", "docs", name)
		if *updatePages {
			if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("docs/%s: make gen was not run (%v)", name, err)
		}
	}
}

// A property is what a CRD says of a field.
type property struct {
	Type, Description, Format string
	Enum                      []string
	Properties                map[string]property
	Items                     *property
}

func crds(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../charts/plumbline/files/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	var b bytes.Buffer
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Names    struct{ Kind, Plural string }
				Versions []struct {
					Schema struct {
						OpenAPI property `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		top := crd.Spec.Versions[0].Schema.OpenAPI
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| field | type | |\n|---|---|---|\n", crd.Spec.Names.Kind, top.Description)
		for _, part := range []string{"spec", "status"} {
			rows(&b, part, top.Properties[part])
		}
	}
	return b.String()
}

// rows are a field and those below it.
func rows(b *bytes.Buffer, path string, p property) {
	kind, below := p.Type, p
	if p.Items != nil {
		kind, below = "list of "+p.Items.Type, *p.Items
		path += "[]"
	}
	if p.Format != "" {
		kind = p.Format
	}
	text := strings.Join(strings.Fields(p.Description), " ")
	if enum := below.Enum; len(enum) > 0 {
		text += " One of " + strings.Join(enum, ", ") + "."
	}
	fmt.Fprintf(b, "| `%s` | %s | %s |\n", path, kind, strings.ReplaceAll(strings.TrimSpace(text), "|", `\|`))
	for _, name := range slices.Sorted(maps.Keys(below.Properties)) {
		rows(b, path+"."+name, below.Properties[name])
	}
}
