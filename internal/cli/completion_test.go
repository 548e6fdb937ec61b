package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"check -o":         "yaml",
		"guard status -o":  "wide",
		"--datastore":      "etcd",
		"plan --code":      "PL1001\taddress allocated, nobody uses it",
		"explain":          "PL2001\t",
		"explain PL2001":   ":4",
		"check --context":  ":4", // no kubeconfig, no error
		"timeline pod x -": "--logs",
		"timeline":         "sandbox",
		"explain node":     ":4", // no cluster, no error
		"schema":           "FleetReport",

		"--kubeconfig testdata/contexts.yaml check --contexts prod,t -": "prod,test",
		"--kubeconfig testdata/contexts.yaml --context p -":             "prod\n",
		"check -o ": "jsonpath=",
	} {
		words := strings.Fields(args)
		last := ""
		if strings.HasSuffix(args, " -") { // the word before it, or a flag, is not complete
			words, last = words[:len(words)-1], "--l"
			if strings.Contains(args, "context") {
				words, last = words[:len(words)-1], words[len(words)-1]
			}
		}
		if r := run(t, 0, append(append([]string{"__complete"}, words...), last)...); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%s: %q", args, r.out)
		}
	}
	if r := run(t, 0, "__complete", "--kubeconfig", "testdata/contexts.yaml", "--context", ""); strings.Contains(r.out, "touch") {
		t.Errorf("a name that a shell would run: %q", r.out)
	}
}

// A flag that takes one of a few words completes these and no file names; one that takes several, also after a comma.
func TestCompletionOfValues(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"check --fail-on ":              "info\nwarning\nerror\n:36\n",
		"check --fail-on w":             "warning\n:36\n",
		"check --require ":              "kubernetes\ncalico\nnode\n:36\n",
		"check --require kubernetes,ca": "kubernetes,calico\n:36\n",
		"apply --max-risk ":             "safe\ndisruptive\ndestructive\n:36\n",
		"undo --journal ":               "disk\ncluster\n:36\n",
		"undo --dry-run=":               "none\nserver\n:36\n",
		"check --code PL1001,PL9006":    "PL1001,PL9006\tdatastore was restored from an earlier time\n:4\n",
		"plan --code PL9006":            "PL9006\tdatastore was restored from an earlier time\n:4\n",
	} {
		if r := run(t, 0, append([]string{"__complete"}, strings.Split(args, " ")...)...); r.code != 0 || r.out != want {
			t.Errorf("%s: %q, want %q", args, r.out, want)
		}
	}
}

// Findings are those of the controller's objects.
func TestCompletionOfFindings(t *testing.T) {
	t.Parallel()
	const findings = `{"items": [
		{"spec": {"code": "PL2001"}, "status": {"count": 2, "samples": [{"subject": "shop/db-0"}, {"subject": "shop/$(touch x)"}]}},
		{"spec": {"code": "PL2002"}, "status": {"count": 0, "samples": [{"subject": "resolved"}]}}]}`
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/plumbline.dev/v1alpha1/findings" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, findings)
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],"users":[{"name":"u","user":{"token":"t"}}]}`, srv.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"explain PL2001/": "PL2001/shop/db-0\n:4\n",
		"explain PL2002/": ":4\n", // none is there any more
		"plan PL":         "PL2001/shop/db-0\n:4\n",
	} {
		if r := run(t, 0, append([]string{"__complete", "--kubeconfig", file, "--cluster", "c", "--user", "u"}, strings.Fields(args)...)...); r.code != 0 || r.out != want {
			t.Errorf("%s: %q, want %q", args, r.out, want)
		}
	}
}
