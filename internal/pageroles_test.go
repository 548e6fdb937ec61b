package internal_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// A right is a role, or who has it.
type right struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Rules    []rule
	RoleRef  struct{ Kind, Name string }
	Subjects []struct{ Kind, Name string }
	text     string
}

type rule struct{ APIGroups, Resources, ResourceNames, Verbs []string }

// roles are those of reader.yaml, and of the chart with every option on, with the comments that say why.
func roles(t *testing.T) string {
	t.Helper()
	var all []right
	bound := map[string][]string{}
	for doc := range strings.SplitSeq(manifests(t), "\n---\n") {
		r := right{text: doc}
		if err := yaml.Unmarshal([]byte(doc), &r); err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case "Role", "ClusterRole":
			all = append(all, r)
		case "RoleBinding", "ClusterRoleBinding":
			for _, s := range r.Subjects {
				bound[r.RoleRef.Kind+r.RoleRef.Name] = append(bound[r.RoleRef.Kind+r.RoleRef.Name], s.Kind+" `"+s.Name+"`")
			}
		}
	}
	var b bytes.Buffer
	for _, r := range all {
		r.describe(&b, bound[r.Kind+r.Metadata.Name])
		delete(bound, r.Kind+r.Metadata.Name)
	}
	b.WriteString("\n## Roles of Kubernetes itself\n\n| role | bound to |\n|---|---|\n")
	for _, role := range slices.Sorted(maps.Keys(bound)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimPrefix(role, "ClusterRole"), strings.Join(bound[role], ", "))
	}
	return b.String()
}

// manifests are the roles of readers and what the chart renders, with these values besides.
func manifests(t *testing.T, values ...string) string {
	t.Helper()
	reader, err := os.ReadFile("../charts/plumbline/files/reader.yaml")
	if err != nil {
		t.Fatal(err)
	}
	helm := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/helm/go.mod", "helm", "template", "--skip-tests", "plumbline", "charts/plumbline", "-n", "plumbline-system",
		"--kube-version", "1.34", "--set", strings.Join(append([]string{"controller.enabled=true,guard.enabled=true,portForward=true,repair=true"}, values...), ","))
	helm.Dir = ".."
	chart, err := helm.Output()
	if err != nil {
		t.Fatalf("helm: %v", err)
	}
	return string(reader) + "\n---\n" + string(chart)
}

func (r *right) describe(b *bytes.Buffer, who []string) {
	where := "all namespaces"
	if r.Metadata.Namespace != "" {
		where = "`" + r.Metadata.Namespace + "`"
	}
	if len(who) == 0 {
		who = []string{"nobody, until you do it"}
	}
	fmt.Fprintf(b, "\n## %s\n\n%s in %s, bound to: %s.\n\n| verbs | resources | API group | only | why |\n|---|---|---|---|---|\n", r.Metadata.Name, r.Kind, where, strings.Join(who, ", "))
	_, text, _ := strings.Cut(r.text, "\nrules:\n")
	why := reasons(text)
	for i, x := range r.Rules {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", strings.Join(x.Verbs, ", "), strings.Join(x.Resources, ", "), strings.Join(x.APIGroups, ", "), strings.Join(x.ResourceNames, ", "), why[i])
	}
}

// reasons are the comments above rules, by rule.
func reasons(rules string) map[int]string {
	out := map[int]string{}
	n, why := 0, ""
	for line := range strings.Lines(rules) {
		if c, ok := strings.CutPrefix(line, "# "); ok {
			why = strings.TrimSpace(why + " " + strings.TrimSpace(c))
		} else if strings.HasPrefix(line, "- apiGroups:") {
			out[n] = why
			n, why = n+1, ""
		}
	}
	return out
}
