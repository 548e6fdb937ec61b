//go:build e2e

package proven

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestLabSchemas: the schemas that we have of a version are those of a real API server with its
// CRDs.
func TestLabSchemas(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	var lines []string
	for _, plural := range Written {
		b, err := l.Do(t.Context(), http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+plural+".crd.projectcalico.org", "")
		if err != nil {
			t.Fatal(err)
		}
		if *update && l.Calico == "v3.31.0" {
			if err := os.WriteFile(filepath.Join("testdata", plural+".json"), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		some, err := Fields(b)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, some...)
	}
	text, file := strings.Join(lines, "\n")+"\n", filepath.Join("schemas", l.Calico+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || string(have) != text {
		t.Errorf("%s is not what the API server has: %v", file, err)
	}
}
