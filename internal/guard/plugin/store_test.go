package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store is what a scripted delegate holds: a file for each container, with its pod. One
// that is keyed by name finds all by the pod; one by both finds so what ends in -old, as
// Calico does what was allocated in 2017.
type store struct {
	Dir   string `json:"dir"`
	Keyed string `json:"keyed"` // name, both
}

func (s *store) do(verb string, env []string) {
	if s == nil {
		return
	}
	c := parseCall(env, "")
	switch verb {
	case "ADD":
		_ = os.WriteFile(filepath.Join(s.Dir, c.Container), []byte(c.Pod), 0o600)
	case "DEL":
		for container, pod := range s.held() {
			old := strings.HasSuffix(container, "-old")
			mine := container == c.Container && !old && s.Keyed != "name"
			named := c.Pod != "" && pod == c.Pod && (old || s.Keyed == "name")
			if mine || named {
				_ = os.Remove(filepath.Join(s.Dir, container))
			}
		}
	}
}

// held gives the pods by container.
func (s *store) held() map[string]string {
	files, _ := os.ReadDir(s.Dir)
	out := map[string]string{}
	for _, f := range files {
		if b, err := os.ReadFile(filepath.Join(s.Dir, f.Name())); err == nil {
			out[f.Name()] = string(b)
		}
	}
	return out
}

// stored is a stand whose delegate is a Calico with a store.
func stored(t *testing.T, keyed string) *stand {
	t.Helper()
	s := newStand(t)
	s.kind, s.has = "calico", &store{t.TempDir(), keyed}
	s.version(map[string]string{"name": "v1.5.0", "both": "v3.31.0"}[keyed])
	return s
}
