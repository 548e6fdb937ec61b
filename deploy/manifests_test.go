// Package deploy holds the manifests for kubectl. Its tests check the manifests against
// the types of the Kubernetes API and against the documented permissions.
package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	flow "k8s.io/api/flowcontrol/v1"
	rbac "k8s.io/api/rbac/v1"
	scheduling "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// objects decodes a manifest strictly: an unknown field is an error, and so is a kind of
// a group that is not listed here.
func objects(t *testing.T, file string) []runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{core.AddToScheme, apps.AddToScheme, batch.AddToScheme, rbac.AddToScheme, admission.AddToScheme, flow.AddToScheme, scheduling.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []runtime.Object
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		if bare(doc) == "" {
			continue
		}
		o, _, err := decoder.Decode([]byte(doc), nil, nil)
		if err != nil {
			t.Errorf("%s: %v in:\n%s", file, err, doc)
			continue
		}
		all = append(all, o)
	}
	return all
}

// bare returns a document without its comments.
func bare(doc string) string {
	var s strings.Builder
	for line := range strings.Lines(doc) {
		if !strings.HasPrefix(line, "#") {
			s.WriteString(line)
		}
	}
	return strings.TrimSpace(s.String())
}

// of returns the objects of one type.
func of[T runtime.Object](all []runtime.Object) (some []T) {
	for _, o := range all {
		if t, ok := o.(T); ok {
			some = append(some, t)
		}
	}
	return some
}

func TestManifestsDecodeStrictly(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{"agent.yaml": 29, "repair.yaml": 47, "guard.yaml": 48, "reader.yaml": 1, "cronjob.yaml": 4} {
		if got := len(objects(t, file)); got != want {
			t.Errorf("%s has %d objects, want %d", file, got, want)
		}
	}
}

func TestNoRuleHasWildcardsOrSecrets(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"agent.yaml", "repair.yaml", "guard.yaml", "reader.yaml"} {
		all := objects(t, file)
		rules := map[string][]rbac.PolicyRule{}
		for _, r := range of[*rbac.ClusterRole](all) {
			rules[r.Name] = r.Rules
		}
		for _, r := range of[*rbac.Role](all) {
			rules[r.Name] = r.Rules
		}
		for name, rs := range rules {
			for _, r := range rs {
				words := slices.Concat(r.Verbs, r.Resources, r.APIGroups)
				if slices.Contains(words, "*") || slices.Contains(words, "secrets") || len(r.NonResourceURLs) > 0 {
					t.Errorf("%s: %s may %v", file, name, r)
				}
				own := func(account string) bool {
					return account == "plumbline-reader" || account == "plumbline-log-reader" || account == "plumbline-repairer"
				}
				if slices.Contains(r.Resources, "serviceaccounts/token") && (len(r.ResourceNames) == 0 || slices.ContainsFunc(r.ResourceNames, func(a string) bool { return !own(a) })) {
					t.Errorf("%s: %s may create tokens of %q, want only accounts of Plumbline", file, name, r.ResourceNames)
				}
			}
		}
		if len(rules) == 0 {
			t.Errorf("%s has no roles", file)
		}
	}
}

// TestEachAccountHasOneRole: the agents may review tokens and access, and write Leases in their own
// namespace, which a policy restricts to that of their node.
func TestEachAccountHasOneRole(t *testing.T) {
	t.Parallel()
	all := objects(t, "repair.yaml")
	got := map[string]string{}
	for _, b := range of[*rbac.ClusterRoleBinding](all) {
		for _, s := range b.Subjects {
			got[s.Namespace+"/"+s.Name] += b.RoleRef.Name
		}
	}
	want := map[string]string{
		"plumbline-system/plumbline-agent":      "system:auth-delegator",
		"plumbline-system/plumbline-reader":     "plumbline-nodestate-reader",
		"plumbline-system/plumbline-log-reader": "plumbline-nodelog-reader",
		"plumbline-system/plumbline-repairer":   "plumbline-nodestate-repairerplumbline-repairer",
	}
	for account, role := range want {
		if got[account] != role {
			t.Errorf("%s has %q, want %q", account, got[account], role)
		}
	}
	for _, b := range of[*rbac.RoleBinding](all) {
		for _, s := range b.Subjects {
			if s.Name == "plumbline-agent" && b.RoleRef.Name == "plumbline-agent" && b.Namespace == "plumbline-system" {
				continue
			}
			if s.Name != "plumbline-repairer" || s.Namespace != "plumbline-system" || !strings.HasPrefix(b.RoleRef.Name, "plumbline-repairer-") {
				t.Errorf("%s binds %s to %s/%s", b.Name, b.RoleRef.Name, s.Namespace, s.Name)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("other subjects have roles: %v", got)
	}
}

// TestParametersNeverRefuseOthers: the API server looks for the parameter of a policy before it looks
// at the match conditions. If that is missing, it must not refuse Calico's own writes.
func TestParametersNeverRefuseOthers(t *testing.T) {
	t.Parallel()
	all, n := objects(t, "repair.yaml"), 0
	for _, p := range of[*admission.ValidatingAdmissionPolicy](all) {
		if p.Spec.ParamKind == nil {
			continue
		}
		n++
		if *p.Spec.FailurePolicy != admission.Ignore {
			t.Errorf("%s has parameters and failurePolicy %s", p.Name, *p.Spec.FailurePolicy)
		}
	}
	for _, b := range of[*admission.ValidatingAdmissionPolicyBinding](all) {
		if r := b.Spec.ParamRef; r != nil && (r.ParameterNotFoundAction == nil || *r.ParameterNotFoundAction != admission.AllowAction) {
			t.Errorf("%s refuses without its parameter", b.Name)
		}
	}
	if n == 0 {
		t.Error("no policy has parameters")
	}
}

// TestAgentsOnlyReadByDefault: nothing that agent.yaml installs may change anything but Leases, and no agent accepts a change.
func TestAgentsOnlyReadByDefault(t *testing.T) {
	t.Parallel()
	all := objects(t, "agent.yaml")
	bound := map[string]bool{}
	for _, b := range of[*rbac.ClusterRoleBinding](all) {
		bound[b.RoleRef.Name] = true
	}
	for _, r := range of[*rbac.ClusterRole](all) {
		for _, rule := range r.Rules {
			writes := slices.ContainsFunc(rule.Verbs, func(v string) bool { return v != "get" && v != "list" && v != "watch" })
			if bound[r.Name] && writes && !slices.Equal(rule.Resources, []string{"nodestates"}) { // which agents without --repair refuse
				t.Errorf("%s may %v", r.Name, rule)
			}
		}
	}
	pod, _ := agentPod(t, "agent.yaml")
	with, _ := agentPod(t, "repair.yaml")
	if slices.Contains(pod.Containers[0].Args, "--repair") || !slices.Contains(with.Containers[0].Args, "--repair") {
		t.Errorf("--repair: %q, and %q in repair.yaml", pod.Containers[0].Args, with.Containers[0].Args)
	}
}
