package server

import (
	"context"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const (
	guardSilent = 2 * time.Minute // the guard daemon writes its report every 30 s
	maxGuardWhy = 512
)

// guardCollector reads the guard daemon's report into the table Guards.
func guardCollector(root string, now func() time.Time) observe.NodeCollector {
	return observe.NodeCollector{Name: "guard", Tables: []model.Table{model.Guards}, Read: func(_ context.Context, f *model.NodeState) error {
		r, err := readReport(root)
		switch {
		case err != nil:
			return err
		case r == nil && lastMode(root) == guard.Enforce:
			f.Guards = []model.Guard{{Wanted: string(guard.Enforce), Unprotected: "the guard daemon has not reported since the node booted"}}
			return nil
		case r == nil:
			return observe.ErrNotThere
		}
		f.Guards = []model.Guard{guardRow(r, now())}
		return nil
	}}
}

// guardRow contains no text of the report but known modes, a version and the reason, which is cut.
func guardRow(r *guard.Report, now time.Time) model.Guard {
	age := now.Sub(r.At)
	row := model.Guard{
		Wanted: known(r.Wanted), Unprotected: cut(r.Unprotected(), maxGuardWhy),
		Silent: age > guardSilent || age < -guardSilent, // or the clock was set back
	}
	if r.Mode != "" {
		row.Mode = known(r.Mode)
	}
	if guard.KnownVersion(r.Version) {
		row.Version = r.Version
	}
	return row
}

// lastMode is the mode that was configured when the guard daemon last ran, also before a reboot.
func lastMode(root string) guard.Mode {
	b, err := hostfile.Root(root).ReadFile(guard.LastModeFile, 256)
	if err != nil {
		return ""
	}
	return guard.Mode(strings.TrimSpace(string(b)))
}
