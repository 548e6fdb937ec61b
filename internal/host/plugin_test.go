package host

import (
	"os"
	"testing"
)

// The version as builds of Calico record it, and what is no version.
func TestStampedVersion(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		`-X github.com/projectcalico/calico/pkg/buildinfo.Version=v3.31.0 -X x.y=z -s -w`: "v3.31.0",
		`-X main.VERSION=v3.20.6-1-gabc -s -w`:                                            "v3.20.6-1-gabc",
		`-s -w -X 'main.VERSION=v1.11.2'`:                                                 "v1.11.2",
		`-X github.com/projectcalico/calico/pkg/buildinfo.GitVersion=v3.30.1`:             "v3.30.1",
		`-X main.VERSION=master`:                                                          "",
		`-X main.OTHER=v3.1.0`:                                                            "",
		``:                                                                                "",
	} {
		got := ""
		if m := stamped.FindStringSubmatch(flags); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%s: %q", flags, got)
		}
	}
}

// What is no program of Go, or no file at all, has no version, and does no harm.
func TestPluginVersionOfAnything(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	h := New(Options{Root: root})
	if v := h.pluginVersion(); v != "" {
		t.Errorf("nothing: %q", v)
	}
	write(t, root, "opt/cni/bin/calico", "#!/bin/sh\necho -X main.VERSION=v3.1.0\n")
	if v := h.pluginVersion(); v != "" || h.plugin.Load() == nil {
		t.Errorf("a script: %q", v)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "else/calico", string(b))
	h.o.Plugins = func() []string { return []string{"/else"} }
	if v := h.pluginVersion(); v != "" {
		t.Errorf("a program of Go without Calico's version: %q", v)
	}
	if err := os.Remove(root + "/else/calico"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", root+"/else/calico"); err != nil {
		t.Fatal(err)
	}
	if v := h.pluginVersion(); v != "" {
		t.Errorf("a link out of the node: %q", v)
	}
}
