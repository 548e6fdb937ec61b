package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"
)

func untarred(t *testing.T, r io.Reader) (out []file) {
	t.Helper()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file{h.Name, h.Mode, b})
	}
}

func unzipped(t *testing.T, b []byte) []file {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return untarred(t, z)
}

// chartFiles are the files of the packed chart.
func chartFiles(t *testing.T, o options) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range unzipped(t, get(t, o, "plumbline-chart-0.1.0-rc.1.tgz")) {
		out[f.name] = string(f.body)
	}
	return out
}

func chart(t *testing.T, o options) {
	var about struct{ Name, Version, AppVersion string }
	if err := yaml.Unmarshal([]byte(chartFiles(t, o)["plumbline/Chart.yaml"]), &about); err != nil {
		t.Fatal(err)
	}
	if about.Name != "plumbline" || about.Version != "0.1.0-rc.1" || about.AppVersion != "v0.1.0-rc.1" {
		t.Errorf("%+v", about)
	}
	ref, err := name.NewTag(o.registry+"/charts/plumbline:0.1.0-rc.1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	m, err := img.Manifest()
	if err != nil || m.Config.MediaType != chartConfig || len(m.Layers) != 1 || m.Layers[0].MediaType != chartLayer || m.Layers[0].Digest.Hex != hexSum(get(t, o, "plumbline-chart-0.1.0-rc.1.tgz")) {
		t.Errorf("%+v, %v", m, err)
	}
}

// The krew manifest is what krew's validator asks for: the file is named after the plugin, the version is semantic, each sum is
// that of the archive, and the archive has the program and the licence.
func krew(t *testing.T, o options) {
	var m struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, Homepage, ShortDescription, Description string
			Platforms                                        []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	if err := yaml.UnmarshalStrict(get(t, o, "plumbline.yaml"), &m); err != nil {
		t.Fatal(err)
	}
	if m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin" || m.Metadata.Name != "plumbline" || m.Spec.Version != o.version ||
		m.Spec.Homepage == "" || m.Spec.Description == "" || len(m.Spec.ShortDescription) > 50 || len(m.Spec.Platforms) != 1 {
		t.Fatalf("%+v", m)
	}
	p := m.Spec.Platforms[0]
	archive := get(t, o, p.URI[strings.LastIndexByte(p.URI, '/')+1:])
	if p.SHA256 != hexSum(archive) || p.Selector.MatchLabels["os"] != runtime.GOOS || p.Selector.MatchLabels["arch"] != runtime.GOARCH {
		t.Errorf("%+v", p)
	}
	has := map[string]int64{}
	for _, f := range unzipped(t, archive) {
		has[f.name] = f.mode
	}
	for _, f := range append(p.Files, struct{ From, To string }{p.Bin, ""}) {
		if _, ok := has[f.From]; !ok {
			t.Errorf("the archive has no %s", f.From)
		}
	}
	if has[p.Bin] != 0o755 {
		t.Errorf("%s has mode %o", p.Bin, has[p.Bin])
	}
}

// A bill of materials has every module that the program says it has.
func boms(t *testing.T, o options) {
	for _, program := range []string{"plumbline", "plumbline-agent", "plumbline-cni", "plumbline-controller"} {
		info, err := buildinfo.ReadFile(o.path("bin/" + program))
		if err != nil {
			t.Fatal(err)
		}
		var b struct {
			Components []struct{ Name, Version string }
		}
		if err := json.Unmarshal(get(t, o, program+"_"+runtime.GOOS+"_"+runtime.GOARCH+".cdx.json"), &b); err != nil {
			t.Fatal(err)
		}
		in := map[string]bool{}
		for _, c := range b.Components {
			in[c.Name+" "+c.Version] = true
		}
		for _, m := range info.Deps {
			if !in[m.Path+" "+m.Version] {
				t.Errorf("%s: %s %s is missing", program, m.Path, m.Version)
			}
		}
		if !in["std "+info.GoVersion] || len(in) != len(info.Deps)+1 {
			t.Errorf("%s: %d components, %d modules", program, len(in), len(info.Deps))
		}
	}
}
