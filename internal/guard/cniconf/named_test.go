package cniconf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// cached is libcni's record of an ADD: the configuration is bytes, and so in base64.
func cached(t *testing.T, config string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"kind": "cniCacheV1", "containerId": "c", "config": []byte(config), "result": map[string]any{"ips": []any{}}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), Guard) {
		t.Fatal("the name is to be seen")
	}
	return string(raw)
}

func TestNamedBy(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(path string) string { return filepath.Join(root, path) }
	patched, _, err := patch([]byte(plain), Guard)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"net.d/10-calico.conflist":            string(patched),
		"net.d/20-other.conflist":             plain,
		"net.d/00-multus.conf":                `{"type":"multus","delegates":[` + string(patched) + `]}`,
		"net.d/10-calico.conflist.cilium_bak": string(patched),
		"net.d/k8s-pod-network/1.conf":        `{"type":"plumbline\u002dcni"}`,
		"net.d/calico-kubeconfig":             "apiVersion: v1\n",
		"results/n-a-eth0":                    cached(t, string(patched)),
		"results/n-b-eth0":                    cached(t, plain),
		"results/n-c-eth0":                    `{"ips":[]}`,
		"multus/c":                            `[{"Conf":{},"Bytes":` + cached(t, cached(t, string(patched))) + `}]`,
	} {
		write(t, at(path), text)
	}
	if err := os.Symlink("results", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("net.d/fifo.conf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nothing", at("net.d/dangling.conf")); err != nil {
		t.Fatal(err)
	}
	got, err := NamedBy([]string{at("net.d"), at("none")}, []string{at("link"), at("multus")})
	want := []string{
		at("multus/c"), at("net.d/00-multus.conf"), at("net.d/10-calico.conflist"), at("net.d/10-calico.conflist.cilium_bak"),
		at("net.d/k8s-pod-network/1.conf"), at("results/n-a-eth0"),
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %q", err, got)
	}
	w := walk{left: 1}
	if w.below(at("results"), configures); len(w.unsure) != 1 {
		t.Errorf("more files than it may look at: %v", w.unsure)
	}
	if got, err := NamedBy(nil, []string{at("none")}); err != nil || got != nil {
		t.Errorf("%v: %q", err, got)
	}
}

// Where not all can be seen, that is said, beside what was seen.
func TestNamedByInDoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, text, want string }{
		"half written configuration": {"net.d/1.conflist", `{"type":`, "half written"},
		"empty configuration":        {"net.d/1.conflist", ``, "half written"},
		"half written cache":         {"results/n-b-eth0", `{"config":"eyJ`, "half written"},
		"empty cache":                {"results/n-b-eth0", ``, "half written"},
		"too large":                  {"results/n-b-eth0", strings.Repeat(" ", maxSize+1), "more than"},
		"too deep":                   {"results/1/2/3/4/5/x", `{}`, "levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, filepath.Join(root, "results/n-a-eth0"), cached(t, Guard))
			write(t, filepath.Join(root, c.path), c.text)
			got, err := NamedBy([]string{filepath.Join(root, "net.d")}, []string{filepath.Join(root, "results")})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if c.want != "levels deep" && len(got) != 1 {
				t.Errorf("%q", got)
			}
		})
	}
}
