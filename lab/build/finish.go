package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plumbline.dev/plumbline/lab/image"
)

// calicoManifests extracts from Calico's own manifests what a cluster needs before
// Calico can run: service accounts, RBAC roles and, for KDD, the CRDs. The lab runs
// Calico's components as processes, so it omits the workloads.
func calicoManifests(ctx context.Context, _ *Builder, dir, out string) error {
	src, err := goCommand(ctx, dir, "list", "-m", "-f", "{{.Dir}}", "github.com/projectcalico/calico").Output()
	if err != nil {
		return fmt.Errorf("find Calico's module: %w", err)
	}
	manifests := filepath.Join(strings.TrimSpace(string(src)), "manifests")
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

// Images that every node of a lab has.
const (
	PauseImage    = "registry.k8s.io/pause:3.10"
	WorkloadImage = "plumbline.dev/lab/workload:1"
)

// images packs the workload's binary twice: as the pause container and as the workload
// itself.
func images(_ context.Context, _ *Builder, _, out string) error {
	bin, err := os.ReadFile(filepath.Join(out, "workload"))
	if err != nil {
		return err
	}
	for file, img := range map[string]image.Image{
		"pause.tar":    {Ref: PauseImage, Path: "pause", Binary: bin, Args: []string{"pause"}},
		"workload.tar": {Ref: WorkloadImage, Path: "workload", Binary: bin, Args: []string{"serve"}},
	} {
		if err := img.Write(filepath.Join(out, file)); err != nil {
			return fmt.Errorf("write image %s: %w", img.Ref, err)
		}
	}
	return nil
}
