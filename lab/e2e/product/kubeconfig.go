//go:build e2e

package product

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
)

// KubeconfigOf writes a kubeconfig of a service account and returns its path.
func KubeconfigOf(t testing.TB, l *lab.Lab, namespace, account string) string {
	t.Helper()
	ctx := t.Context()
	token, err := l.Kubectl(ctx, "-n", namespace, "create", "token", account, "--duration=1h")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := l.Kubectl(ctx, "config", "view", "--raw", "--minify", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var cfg map[string]any
	if err := json.Unmarshal([]byte(raw), &cfg); err != nil {
		t.Fatal(err)
	}
	contexts, _ := cfg["contexts"].([]any)
	first, _ := contexts[0].(map[string]any)
	in, _ := first["context"].(map[string]any)
	cfg["users"] = []any{map[string]any{"name": account, "user": map[string]any{"token": strings.TrimSpace(token)}}}
	in["user"] = account
	b, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
