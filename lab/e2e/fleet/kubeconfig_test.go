//go:build e2e

package fleet

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/lab/e2e/outside"
)

// A config is a kubeconfig of several labs.
type config map[string]any

// add takes the cluster and user of a lab over, at another address.
func (c config) add(t *testing.T, name, address string) {
	t.Helper()
	var one config
	if err := json.Unmarshal([]byte(outside.Must(t, "kubectl", "--name", name, "config", "view", "--raw", "--minify", "-o", "json")), &one); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"clusters", "users", "contexts"} {
		e := one.entry(list, "")
		e["name"] = name
		c[list] = append(c[list].([]any), e)
	}
	c.entry("contexts", name)["context"] = map[string]any{"cluster": name, "user": name}
	c.server(t, name, address)
}

// alias adds a context like another one.
func (c config) alias(of, name string) {
	for _, list := range []string{"clusters", "contexts"} {
		e := maps.Clone(c.entry(list, of))
		e["name"] = name
		c[list] = append(c[list].([]any), e)
	}
	c.entry("contexts", name)["context"] = map[string]any{"cluster": name, "user": of}
}

// server sets the address of a cluster.
func (c config) server(t *testing.T, name, address string) {
	t.Helper()
	e := c.entry("clusters", name)
	in, ok := e["cluster"].(map[string]any)
	if !ok {
		t.Fatalf("no cluster %s", name)
	}
	in = maps.Clone(in)
	in["server"] = "https://" + address
	e["cluster"] = in
}

// entry gives the entry of that name, or the first.
func (c config) entry(list, name string) map[string]any {
	all, _ := c[list].([]any)
	for _, e := range all {
		if e := e.(map[string]any); name == "" || e["name"] == name {
			return e
		}
	}
	return nil
}

func (c config) write(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
