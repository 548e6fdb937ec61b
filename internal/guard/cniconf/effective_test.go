package cniconf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestEffective(t *testing.T) {
	t.Parallel()
	for node, want := range map[string]struct {
		loaded string
		path   string // or why there is none
		state  State
		why    string
	}{
		"lab":         {"k8s-pod-network", "net.d/10-calico.conflist", Plain, ""},
		"manifest":    {"k8s-pod-network", "net.d/10-calico.conflist", Plain, ""},
		"single":      {"calico-k8s-network", "net.d/10-calico.conf", Plain, ""},
		"chained":     {"k8s-pod-network", "net.d/10-calico.conflist", Plain, ""},
		"istio":       {"k8s-pod-network", "net.d/10-calico.conflist", Plain, ""},
		"istio-owned": {"k8s-pod-network", "net.d/02-istio-cni.conflist", Plain, ""},
		"cilium":      {"cilium", "net.d/05-cilium.conflist", Foreign, `only "cilium-cni"`},
		"multus-copy": {"multus-cni-network", "net.d/00-multus.conf", Foreign, "of Calico's configuration"},
		"multus-file": {"multus-cni-network", "multus.net.d/10-calico.conflist", Plain, ""},
		"multus-name": {"multus-cni-network", "by name", "", ""},
		"etcd":        {"", "reports none", "", ""},
	} {
		root := filepath.Join("testdata", node)
		dirs := []string{filepath.Join(root, "net.d"), filepath.Join(root, "multus.net.d"), "testdata/none"}
		path, err := Effective(dirs, want.loaded)
		if want.state == "" {
			if err == nil || !strings.Contains(err.Error(), want.path) {
				t.Errorf("%s: %s, %v, not %q", node, path, err, want.path)
			}
			continue
		}
		if err != nil || path != filepath.Join(root, want.path) {
			t.Errorf("%s: %s, %v", node, path, err)
			continue
		}
		state, why := NewFile(path, want.loaded, dirs...).State()
		if state != want.state || !strings.Contains(why, want.why) || (why == "") != (want.why == "") {
			t.Errorf("%s: %s, %q", node, state, why)
		}
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEffectiveDoesNotGuess(t *testing.T) {
	t.Parallel()
	multus := func(ref string) string {
		return `{"name":"m","cniVersion":"1.0.0","type":"multus","clusterNetwork":"` + ref + `"}`
	}
	single := `{"name":"n","cniVersion":"1.0.0","type":"calico"}`
	for name, c := range map[string]struct {
		files  map[string]string
		loaded string
		want   string // file, or why not
	}{
		"the first":                 {map[string]string{"a/2.conflist": plain, "a/10.conflist": plain}, "n", "a/10.conflist"},
		"a broken one is passed by": {map[string]string{"a/0.conflist": plain[:9], "a/1.conflist": plain}, "n", "a/1.conflist"},
		"a list in a single's name": {map[string]string{"a/0.conf": plain, "a/1.conflist": plain}, "n", "a/1.conflist"},
		"a single in a list's name": {map[string]string{"a/0.conflist": single, "a/1.json": single}, "n", "a/1.json"},
		"others are not looked at":  {map[string]string{"a/.0.conflist.plumbline-was": plain, "a/0.bak": strings.Replace(single, `"n"`, `"o"`, 1), "a/1.conf": single}, "n", "a/1.conf"},
		"another is loaded":         {map[string]string{"a/0.conflist": plain}, "o", `configures network "n"`},
		"it is not the first":       {map[string]string{"a/0.conf": `{"name":"o","type":"x"}`, "a/1.conflist": plain}, "n", `configures network "o"`},
		"in two directories":        {map[string]string{"a/0.conflist": plain, "b/0.conflist": plain}, "n", "may be configured by any"},
		"a pipe":                    {map[string]string{"a/0.conf": "pipe", "a/1.conf": single}, "n", "a/1.conf"},
		"none":                      {map[string]string{"a/x": ""}, "n", "no configuration"},
		"only broken ones":          {map[string]string{"a/1.conf": "{"}, "n", "unexpected end"},
		"Multus, elsewhere":         {map[string]string{"a/0.conf": multus("/c/1.conflist"), "b/1.conflist": plain}, "m", "b/1.conflist"},
		"Multus, beside it":         {map[string]string{"a/0.conf": multus("/c/1.conflist"), "a/1.conflist": plain}, "m", "a/1.conflist"},
		"Multus, twice":             {map[string]string{"a/0.conf": multus("/c/1.conflist"), "a/1.conflist": plain, "b/1.conflist": plain}, "m", "may be any of"},
		"Multus, gone":              {map[string]string{"a/0.conf": multus("/c/1.conflist"), "b/2.conflist": plain}, "m", "no such file"},
		"Multus, a directory":       {map[string]string{"a/0.conf": multus("/c/net.d"), "b/2.conflist": plain}, "m", "directory"},
		"Multus, itself":            {map[string]string{"a/0.conf": multus("/c/0.conf")}, "m", "Multus refers to Multus"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for path, text := range c.files {
				write(t, filepath.Join(root, path), text)
				if text == "pipe" {
					if err := errors.Join(os.Remove(filepath.Join(root, path)), syscall.Mkfifo(filepath.Join(root, path), 0o600)); err != nil {
						t.Fatal(err)
					}
				}
			}
			path, err := Effective([]string{filepath.Join(root, "a"), filepath.Join(root, "b")}, c.loaded)
			if err == nil {
				path, err = filepath.Rel(root, path)
			}
			if path != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, %v", path, err)
			}
		})
	}
}
