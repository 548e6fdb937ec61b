//go:build e2e

package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

const account = "system:serviceaccount:kube-system:plumbline-reader"

// reader runs every command with the permissions that we ship, while there is a fault,
// and compares its requests with the API server's audit log.
func reader(t *testing.T, l *lab.Lab) {
	ctx := t.Context()
	bin := product.Binary(t)
	kubeconfig := asReader(t, l, filepath.Join(filepath.Dir(filepath.Dir(bin)), "deploy", "reader.yaml"))
	sc := stage.Scenario{Name: "reader", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.Run(ctx, stage.PodSpec{Name: "freed", Node: "node1"})
		if err != nil {
			return err
		}
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
			return err
		}
		every(t, l, bin, kubeconfig, pod)
		return nil
	}}
	if err := stage.Play(ctx, l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for verb, n := range verbsOf(t, l, account) {
		asked[verb] += n
	}
	t.Log(asked)
	if asked["list"] == 0 || asked["get"] == 0 {
		t.Errorf("the audit log has no request of our account: %v", asked)
	}
	for verb := range asked {
		if verb != "get" && verb != "list" {
			t.Errorf("our account sent %s", verb)
		}
	}
	lacking(t, l, bin, kubeconfig)
}

// every runs each command of the help, in each form of its examples.
func every(t *testing.T, l *lab.Lab, bin, kubeconfig string, pod lab.Pod) {
	state, ip := t.TempDir(), pod.Status.PodIP
	bundle := filepath.Join(t.TempDir(), "b.tar.gz")
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"status", 0, "Next"},
		{"check --wait --settle=2s", 1, "PL1002/" + ip},
		{"check --settle=2s", 1, "Next: plumbline explain PL1002/" + ip},
		{"check --settle=2s -o wide", 1, ip},
		{"check --settle=2s -o yaml", 1, "kind: CheckReport"},
		{"check --settle=2s -o name", 1, "PL1002/" + ip},
		{"check --settle=2s -o html", 1, "<!doctype html>"},
		{"check --settle=2s -n reader", 1, "PL1002"},
		{"check --settle=2s -n kube-system", 0, "No findings"},
		{"check --settle=2s --node node2", 0, "No findings"},
		{"check --settle=2s -l app=freed", 1, "PL1002"},
		{"check --settle=2s -l app=other", 0, "No findings"},
		{"check --settle=2s --code PL1001", 0, "No findings"},
		{"check --settle=2s --fail-on error --gentle", 1, "PL1002"},
		{"check --quick", 3, "Not checked"},
		{"explain PL1002", 0, "## Impact"},
		{"explain --settle=2s PL1002/" + ip, 0, "free"},
		{"explain pod freed -n reader", 0, "FREE"},
		{"explain ip " + ip, 0, "FREE"},
		{"explain node node1", 0, "is ready"},
		{"collect --save " + bundle, 0, "Wrote"},
		{"check --bundle " + bundle, 0, "unconfirmed"},
		{"status --bundle " + bundle, 0, "Next"},
		{"version", 0, "plumbline"},
	} {
		before := requests(t, l)
		out, code, err := stage.Plumbline(t.Context(), l, bin, state, append(strings.Fields(c.args), "--kubeconfig="+kubeconfig)...)
		if n := requests(t, l) - before; n > 19 && (strings.HasPrefix(c.args, "explain pod") || strings.HasPrefix(c.args, "explain ip")) {
			t.Errorf("%s: %d requests, want at most 19", c.args, n)
		}
		if err != nil || code != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d, %v, want %d and %q in:\n%s", c.args, code, err, c.exit, c.want, out)
		}
	}
}

// requests is the number of requests of our account.
func requests(t *testing.T, l *lab.Lab) int {
	t.Helper()
	n := 0
	for _, k := range verbsOf(t, l, account) {
		n += k
	}
	return n
}

// asReader returns a kubeconfig of an account that has our ClusterRole and nothing else.
func asReader(t *testing.T, l *lab.Lab, role string) string {
	t.Helper()
	ctx := t.Context()
	for _, args := range [][]string{
		{"apply", "-f", role},
		{"-n", "kube-system", "create", "serviceaccount", "plumbline-reader"},
		{"create", "clusterrolebinding", "plumbline-reader", "--clusterrole=plumbline-reader", "--serviceaccount=kube-system:plumbline-reader"},
	} {
		if _, err := l.Kubectl(ctx, args...); err != nil {
			t.Fatal(err)
		}
	}
	return product.KubeconfigOf(t, l, "kube-system", "plumbline-reader")
}

// verbsOf counts the verbs of an account's requests.
func verbsOf(t *testing.T, l *lab.Lab, user string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, r := range requestsOf(t, l) {
		if r.User.Username == user {
			out[r.Verb]++
		}
	}
	return out
}

// lacking: without the permission for one resource the rest still works, and the report
// states what is missing.
func lacking(t *testing.T, l *lab.Lab, bin, kubeconfig string) {
	const without = `[{"op": "replace", "path": "/rules/0/resources", "value": ["nodes", "services"]}]`
	if _, err := l.Kubectl(t.Context(), "patch", "clusterrole", "plumbline-reader", "--type=json", "-p", without); err != nil {
		t.Fatal(err)
	}
	err := lab.Eventually(t.Context(), time.Minute, func(ctx context.Context) error { // the API server takes a moment to know the permissions
		r, err := stage.CheckWith(ctx, l, bin, t.TempDir(), "--kubeconfig="+kubeconfig)
		if err != nil {
			return err
		}
		var tables []string
		for _, n := range r.NotChecked {
			tables = append(tables, n.Table)
		}
		slices.Sort(tables)
		return stage.Expect(r.Exit == 3 && fmt.Sprint(tables) == "[pods pods.node pods.phase pods.status]" && len(r.NotJudged) > 0,
			"exit %d, not checked %v, skipped %v", r.Exit, tables, r.NotJudged)
	})
	if err != nil {
		t.Error(err)
	}
}
