package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

const (
	maxStatus = 1 << 20
	tellEvery = 30 * time.Second
	stuck     = time.Minute // work that takes longer is worth a word; a replay may take two
)

// A told is what was last written.
type told struct {
	text string
	at   time.Time
	said string // why it could not be written
}

// tells writes the report where the agent finds it: when it has changed, and now and then
// so that it is seen that somebody keeps the guard.
func (k *Daemon) tells(context.Context) {
	now := k.Now()
	r := k.snapshot(now)
	raw, err := json.Marshal(r)
	if err != nil || string(raw) == k.told.text && !due(now, k.told.at.Add(tellEvery), tellEvery) {
		return
	}
	r.At = now
	full, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = replace(k.file(guard.StatusFile), append(full, '\n'), 0o644)
	}
	if err != nil {
		if k.told.said != err.Error() {
			k.told.said = err.Error()
			k.Log.Warn("the report cannot be written", "error", err)
		}
		return
	}
	k.told = told{text: string(raw), at: now}
}

// snapshot is the report at this moment, with a word on what hangs.
func (k *Daemon) snapshot(now time.Time) guard.Report {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.report
	for _, name := range slices.Sorted(maps.Keys(k.since)) {
		patience := stuck
		if name == "tend" {
			patience += replayPatience
		}
		if since := k.since[name]; now.Sub(since) > patience {
			if r.Why != "" {
				r.Why += "; "
			}
			r.Why += fmt.Sprintf("the keeper's %s has not come back since %s", name, since.UTC().Format(time.RFC3339))
		}
	}
	return r
}
