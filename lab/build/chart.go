package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// calicoChart does the same for Calico before 3.24, whose module has no manifests: the accounts
// and roles are those of the chart, the CRDs those of libcalico-go.
func calicoChart(module, out string) error {
	crds, err := filepath.Glob(filepath.Join(module, "libcalico-go/config/crd/*.yaml"))
	if err != nil || len(crds) == 0 {
		return fmt.Errorf("no CRDs in %s: %w", module, err)
	}
	for mode, store := range map[string]string{"kdd": "kubernetes", "etcd": "etcd"} {
		var s strings.Builder
		values := map[string]any{"Values": map[string]any{"datastore": store, "network": "calico"}}
		for _, account := range []string{"calico-node", "calico-kube-controllers"} {
			fmt.Fprintf(&s, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: %s, namespace: kube-system}\n---\n", account)
			t, err := template.ParseFiles(filepath.Join(module, "calico/_includes/charts/calico/templates", account+"-rbac.yaml"))
			if err != nil {
				return err
			}
			if err := t.Execute(&s, values); err != nil {
				return err
			}
			s.WriteString("\n---\n")
		}
		for _, f := range crds {
			text, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			if mode == "kdd" {
				s.WriteString(string(text) + "\n---\n")
			}
		}
		if err := os.WriteFile(filepath.Join(out, mode+".yaml"), []byte(s.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
