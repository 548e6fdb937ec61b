//go:build e2e

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
)

// The releases of Kubernetes that the chart is rendered for: the oldest, those at which a part of it begins, the newest that the module proxy has.
var kubernetes = []string{"v1.24.17", "v1.27.16", "v1.30.14", "v1.34.4", "v1.36.2"}

// What is rendered: everything off, the defaults, everything on.
var choices = map[string][]string{
	"least":    {"--set", "repair=false,proxyPolicy=false,flow=false,withoutPolicies=true"},
	"defaults": {"--set", "withoutPolicies=true"},
	"all": {
		"--set", "guard.enabled=true,guard.mode=enforce,portForward=true,gke=true,namespace.create=true,podLabels.a=b,podAnnotations.c=d,runtimeSocket=/run/x.sock,cniConfigDir=/etc/x,withoutPolicies=true",
		"--set-json", `users=[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"on-call"}]`,
	},
}

// TestVersions renders the chart for each release of Kubernetes and holds it against that release's own API: an unknown field is an error.
func TestVersions(t *testing.T) {
	for _, version := range kubernetes {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			schemas := schemasOf(t, version)
			for name, args := range choices {
				t.Run(name, func(t *testing.T) { validate(t, schemas, version, render(t, version, args)) })
			}
			t.Run("a field that does not exist", func(t *testing.T) {
				if invalid := problems(t, schemas, version, "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\nspec: {selector: {}, template: {spec: {containers: [], hostNetworks: true}}}\n"); len(invalid) == 0 {
					t.Error("hostNetworks is accepted")
				}
			})
		})
	}
}

// schemasOf writes the definitions of a release, one file per kind, as kubeconform reads them.
func schemasOf(t *testing.T, version string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "k8s.io/kubernetes@"+version).Output()
	if err != nil {
		t.Fatalf("download the API of %s: %v: %s", version, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(module.Dir, "api", "openapi-spec", "swagger.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct{ Definitions map[string]map[string]any }
	if err := json.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	for _, d := range spec.Definitions {
		if _, ok := d["properties"]; ok {
			d["additionalProperties"] = false
		}
	}
	all, err := json.Marshal(spec.Definitions)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, d := range spec.Definitions {
		kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
		for _, k := range kinds {
			gvk, _ := k.(map[string]any)
			file := strings.ToLower(fmt.Sprintf("%s_%s_%s.json", gvk["kind"], gvk["group"], gvk["version"]))
			if err := os.WriteFile(filepath.Join(dir, file), fmt.Appendf(nil, `{"$ref":"#/definitions/%s","definitions":%s}`, name, all), 0o600); err != nil {
				t.Fatal(err)
			}
			if len(kinds) > 3 {
				break // options that every group has
			}
		}
	}
	return dir
}

func render(t *testing.T, version string, args []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "-modfile=tools/helm/go.mod", "helm", "template", "plumbline", "charts/plumbline", "-n", "plumbline-system", "--kube-version", version}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("helm: %v", err)
	}
	return string(out)
}

func validate(t *testing.T, schemas, version, text string) {
	t.Helper()
	for _, p := range problems(t, schemas, version, text) {
		t.Error(p)
	}
	if strings.Count(text, "\nkind: ") < 5 {
		t.Errorf("little was rendered: %s", text)
	}
}

func problems(t *testing.T, schemas, version, text string) (out []string) {
	t.Helper()
	v, err := validator.New([]string{schemas + `/{{ .ResourceKind }}_{{ if ne .Group .ResourceAPIVersion }}{{ .Group }}{{ end }}_{{ .ResourceAPIVersion }}.json`}, validator.Opts{Strict: false, KubernetesVersion: strings.TrimPrefix(version, "v")})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range v.Validate("rendered", io.NopCloser(strings.NewReader(text))) {
		if r.Status != validator.Valid && r.Status != validator.Empty {
			sig, _ := r.Resource.Signature()
			out = append(out, fmt.Sprintf("%+v: %v", sig, r.Err))
		}
	}
	return out
}
