package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// Plans are those of this cluster's journals on this machine, the newest first; --resume has those that did not come to their end.
func TestCompletionOfPlans(t *testing.T) {
	t.Parallel()
	const group = "/apis/crd.projectcalico.org/v1"
	answers := map[string]string{
		group:                                  `{"resources":[{"name":"ipamblocks"},{"name":"clusterinformations"}]}`,
		group + "/clusterinformations/default": `{"metadata":{"name":"default","resourceVersion":"1"},"spec":{"clusterGUID":"g1","calicoVersion":"v3.31.0"}}`,
	}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, answer)
	}))
	defer srv.Close()
	home := t.TempDir()
	file := filepath.Join(home, "kubeconfig")
	text := fmt.Sprintf(`{"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],"users":[{"name":"u","user":{"token":"t"}}]}`, srv.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		cluster, plan string
		ends          repair.Outcome
	}{{"g1", "aa01", repair.Done}, {"g1", "aa02", repair.Failed}, {"g1", "ab03", repair.Intent}, {"g2", "aa04", repair.Failed}} {
		j, err := journal.Create(filepath.Join(home, ".local", "state"), c.cluster, &repair.Plan{Schema: repair.Schema, ID: c.plan, Cluster: c.cluster, Made: model.Time(100 + i)})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Append(repair.Entry{Step: journal.EntirePlan, Outcome: c.ends}); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"undo |":           "ab03\naa02\naa01\n:36\n",
		"history aa|":      "aa02\naa01\n:36\n",
		"apply --resume |": "ab03\naa02\n:36\n",
		"undo aa01 |":      ":4\n",
	} {
		var out, diag bytes.Buffer
		words := strings.Split(strings.TrimSuffix(args, "|"), " ")
		code := cli.Main(t.Context(), cli.Env{
			Args: append([]string{"plumbline", "__complete", "--kubeconfig", file, "--cluster", "c", "--user", "u"}, words...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &diag,
			Getenv: func(k string) string { return map[string]string{"HOME": home}[k] },
		})
		if code != 0 || out.String() != want {
			t.Errorf("%s: %q, want %q: %s", args, out.String(), want, diag.String())
		}
	}
}
