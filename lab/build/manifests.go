package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// calicoManifests extracts from Calico's own manifests what a cluster needs before
// Calico can run: service accounts, RBAC roles and, for KDD, the CRDs. The lab runs
// Calico's components as processes, so it omits the workloads.
func calicoManifests(ctx context.Context, _ *Builder, dir, out string) error {
	src, err := goCommand(ctx, dir, "list", "-m", "-f", "{{.Dir}}", "github.com/projectcalico/calico").Output()
	if err != nil {
		return fmt.Errorf("find Calico's module: %w", err)
	}
	module := strings.TrimSpace(string(src))
	manifests := filepath.Join(module, "manifests")
	if _, err := os.Stat(manifests); errors.Is(err, fs.ErrNotExist) {
		return calicoChart(module, out)
	}
	for mode, file := range map[string]string{"kdd": "calico-vxlan.yaml", "etcd": "calico-etcd.yaml"} {
		text, err := os.ReadFile(filepath.Join(manifests, file))
		if err != nil {
			return fmt.Errorf("read Calico's manifest: %w", err)
		}
		crds, rights := pick(string(text), "CustomResourceDefinition"), pick(string(text), "ServiceAccount", "ClusterRole", "ClusterRoleBinding")
		if rights == "" || (mode == "kdd") != (crds != "") {
			return fmt.Errorf("%s: does not have the expected accounts, roles and CRDs", file)
		}
		if err := os.WriteFile(filepath.Join(out, mode+".yaml"), []byte(rights+crds), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pick returns the documents of the given kinds.
func pick(manifest string, kinds ...string) string {
	var s strings.Builder
	for _, doc := range strings.Split(manifest, "\n---\n") {
		for line := range strings.Lines(doc) {
			kind, ok := strings.CutPrefix(strings.TrimSpace(line), "kind: ")
			if ok && !strings.HasPrefix(line, " ") {
				if slices.Contains(kinds, kind) {
					s.WriteString(doc + "\n---\n")
				}
				break
			}
		}
	}
	return s.String()
}
