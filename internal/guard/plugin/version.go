package plugin

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"plumbline.dev/plumbline/internal/guard"
)

// anyVersion is answered if the delegate cannot be asked. What it does not speak it will
// refuse by itself; a runtime that is told too little drops the whole network.
var anyVersion = []string{"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}

// version answers with what the delegate speaks. libcni asks without the entry, and
// without a path: then it is the plugin beside us that this node's guard stands for.
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
	if _, err := find(d.kind, d.path); err == nil {
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

// speaks tells whether the delegate knows a version.
func (s *session) speaks(ctx context.Context, version string) bool {
	a := s.delegate.run(ctx, "VERSION", s.entry.configuration())
	var said struct {
		Supported []string `json:"supportedVersions"`
	}
	return a.ok() && json.Unmarshal(a.out, &said) == nil && slices.Contains(said.Supported, version)
}

// collect hands GC to a delegate that knows it. To others it means nothing, which is no
// error.
func (s *session) collect(ctx context.Context) *answer {
	s.event.Rule = 14
	if !s.speaks(ctx, "1.1.0") {
		s.event.Says = "the plugin knows no GC"
		return &answer{}
	}
	return s.pass(ctx)
}
