package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	maxStatus = 1 << 20
	tellEvery = 30 * time.Second
	stuck     = time.Minute // a worker that runs longer is reported; a replay may take two minutes more
)

// A told is the last report that was written.
type told struct {
	text string
	at   time.Time
	said string // why the last write failed
}

// tells writes the report for the agent: when it has changed, and every tellEvery, so that
// readers can see that the guard daemon runs.
func (k *daemon) tells(context.Context) {
	now := k.Now()
	r := k.snapshot(now)
	raw, err := json.Marshal(r)
	if err != nil || string(raw) == k.told.text && !due(now, k.told.at.Add(tellEvery), tellEvery) {
		return
	}
	r.At = now
	full, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = hostfile.Replace(k.file(guard.StatusFile), append(full, '\n'), 0o644)
	}
	if err != nil {
		if k.told.said != err.Error() {
			k.told.said = err.Error()
			k.Log.Warn("cannot write the report", "error", err)
		}
		return
	}
	k.told = told{text: string(raw), at: now}
}

// snapshot returns the current report, with the workers that hang.
func (k *daemon) snapshot(now time.Time) guard.Report {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.report
	r.Schema = guard.ReportSchema
	if _, err := os.Lstat(k.file(guard.OffFile)); err == nil && r.Mode != "" {
		r.Mode, r.Why = guard.Off, "the environment of the container runtime has PLUMBLINE_GUARD=off"
	}
	for _, name := range slices.Sorted(maps.Keys(k.since)) {
		patience := stuck
		if name == "tend" {
			patience += replayPatience
		}
		if since := k.since[name]; now.Sub(since) > patience {
			if r.Why != "" {
				r.Why += "; "
			}
			r.Why += fmt.Sprintf("the guard daemon's worker %s has not returned since %s", name, since.UTC().Format(time.RFC3339))
		}
	}
	return r
}
