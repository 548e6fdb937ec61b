package cri

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func recorded(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const crioNS = "/var/run/netns/8d5e1a9c-6c2f-4c8b-8b1f-0f4f2c6d7e11"

func TestParseInfo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		pid   bool
		netns string // how it ends
	}{
		"containerd-1.6.20-sandbox":           {true, "/netns/cni-"},
		"containerd-1.6.20-sandbox-stopped":   {false, "/netns/cni-"},
		"containerd-1.6.20-container":         {true, "/ns/net"},
		"containerd-1.6.20-container-stopped": {false, "/ns/net"},
		"containerd-1.7-sandbox":              {true, "/var/run/netns/cni-5b1c6f3a-2b8e-9d0c-7a41-3e5f0d9c8b72"},
		"containerd-2.2.9-sandbox":            {true, "/netns/cni-"},
		"containerd-2.2.9-sandbox-stopped":    {false, "/netns/cni-"},
		"containerd-2.2-sandbox-deleted":      {false, "/netns/cni-"},
		"containerd-2.2.9-container":          {true, "/ns/net"},
		"crio-1.29-sandbox":                   {true, crioNS},
		"crio-1.29-sandbox-dropped-infra":     {false, crioNS},
		"crio-1.21-sandbox-dropped-infra":     {false, ""},
		"crio-1.29-container":                 {true, crioNS},
	} {
		got, err := parseInfo(map[string]string{"info": recorded(t, name)})
		if err != nil || (got.pid > 0) != want.pid || !strings.Contains(got.netns, want.netns) || (want.netns == "") != (got.netns == "") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, none := range []map[string]string{nil, {"info": ""}, {"other": "x"}} {
		if got, err := parseInfo(none); err != nil || got != (info{}) {
			t.Errorf("%v: %+v, %v", none, got, err)
		}
	}
	for _, bad := range []string{"{", "[]", `{"pid":"x"}`, `{"pid":1}` + strings.Repeat(" ", maxInfo)} {
		if _, err := parseInfo(map[string]string{"info": bad}); err == nil {
			t.Errorf("%.20s: no error", bad)
		}
	}
	odd, err := parseInfo(map[string]string{"info": `{"pid":-7,"runtimeSpec":{"linux":{"namespaces":[{"type":"network","path":"../../etc"}]}}}`})
	if err != nil || odd != (info{}) {
		t.Errorf("odd: %+v, %v", odd, err)
	}
}

func TestParseConfig(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"containerd-1.6.20-config": true, "containerd-2.2.9-config": true, "crio-1.29-config": false} {
		conf, bins, err := parseConfig(map[string]string{"config": recorded(t, name)})
		if err != nil || strings.HasSuffix(conf, "/net.d") != want || (len(bins) == 1) != want {
			t.Errorf("%s: %q %q %v", name, conf, bins, err)
		}
	}
	conf, bins, err := parseConfig(map[string]string{"config": `{"cni":{"binDirs":["/a","/b/../c","rel"],"binDir":"","confDir":"rel"}}`})
	if err != nil || conf != "" || !slices.Equal(bins, []string{"/a", "/c"}) {
		t.Errorf("%q %q %v", conf, bins, err)
	}
}

func TestParseNSLink(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]uint64{"net:[4026531840]": 4026531840, "": 0, "net:[": 0, "net:[x]": 0, "mnt:[1]": 0, "net:[1": 0, "net:[-1]": 0} {
		if got := parseNSLink(s); got != want {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func FuzzInfo(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, name := range files {
		f.Add(recorded(f, strings.TrimSuffix(filepath.Base(name), ".json")))
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseInfo(map[string]string{"info": text})
		if got.pid < 0 || (got.netns != "" && !filepath.IsAbs(got.netns)) {
			t.Errorf("%+v, %v", got, err)
		}
		if err == nil && text != "" && !json.Valid([]byte(text)) {
			t.Error("no JSON, and no error")
		}
		conf, bins, _ := parseConfig(map[string]string{"config": text})
		for _, p := range append(bins, conf) {
			if p != "" && !filepath.IsAbs(p) {
				t.Errorf("%q", p)
			}
		}
	})
}
