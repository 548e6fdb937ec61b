package plugin

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"plumbline.dev/plumbline/internal/guard"
)

// anyVersion is the answer if the delegate cannot be asked. The delegate itself refuses a
// version that it does not support; a runtime that gets too short a list drops the whole
// network.
var anyVersion = []string{"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}

// version answers with the versions of the delegate. libcni asks without an entry and
// without a path: then it is the plugin beside this program that the guard of this node
// wraps.
func (w *World) version(config []byte) *answer {
	d := delegate{kind: word(filepath.Join(w.Dir, guard.KindFile)), path: lookup(w.Env, "CNI_PATH"), env: w.Env}
	if e, err := parseEntry(config); err == nil {
		d.kind, config = e.kind, e.configuration()
	}
	if properType(d.kind) != nil {
		d.kind = "calico"
	}
	if _, err := find(d.kind, d.path); err != nil {
		d.path = filepath.Dir(w.Program)
	}
	ctx, stop := context.WithTimeout(context.Background(), w.patience)
	defer stop()
	asleep := lookup(w.Env, guard.ProbeVariable) != "" // only whether this program runs is asked
	if _, err := find(d.kind, d.path); err == nil && !asleep {
		if a := d.run(ctx, "VERSION", config); a.trouble == nil {
			return a
		}
	}
	var asked struct {
		Version string `json:"cniVersion"`
	}
	if json.Unmarshal(config, &asked) != nil || asked.Version == "" {
		asked.Version = "1.0.0"
	}
	b, _ := json.Marshal(struct {
		Version   string   `json:"cniVersion"`
		Supported []string `json:"supportedVersions"`
	}{asked.Version, anyVersion})
	return &answer{out: append(b, '\n')}
}

// speaks reports whether the delegate supports a CNI version.
func (s *session) speaks(ctx context.Context, version string) bool {
	a := s.delegate.run(ctx, "VERSION", s.entry.configuration())
	var said struct {
		Supported []string `json:"supportedVersions"`
	}
	return a.ok() && json.Unmarshal(a.out, &said) == nil && slices.Contains(said.Supported, version)
}

// collect passes GC to a delegate that supports it. For others it succeeds without effect.
func (s *session) collect(ctx context.Context) *answer {
	s.event.Rule = 14
	if !s.speaks(ctx, "1.1.0") {
		s.event.Says = "the plugin does not support GC"
		return &answer{}
	}
	return s.pass(ctx)
}
