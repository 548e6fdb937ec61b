package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	replayPatience = 2 * time.Minute
	replayAgain    = 10 * time.Second
	replayFailed   = time.Minute
	maxSaid        = 64 << 10
	maxConf        = 1 << 20
)

// queue runs the queued DELs that are due, in enforce only. It starts the guard's own program on the
// host, which implements DEL.
func (k *daemon) queue(ctx context.Context, now time.Time) error {
	t, s := &k.tend, k.at()
	all, err := k.db.Queued()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		k.say(func(r *guard.Report) { r.Queue, r.Waiting = 0, "" })
		return nil
	}
	boot, err := sinceBoot()
	if err != nil {
		return err
	}
	waiting := t.waits
	switch {
	case s.mode != guard.Enforce:
		waiting = "queued DELs are carried out in enforce only"
	case all[0].At > boot:
		if waiting == "" {
			waiting = all[0].Why
		}
	case !due(now, t.replay, replayFailed):
	case s.file == "" || !s.program.sits():
		waiting = "the guard's program or the network configuration is missing"
	default:
		said, err := k.replay(ctx, &s)
		waiting, t.replay = said.waits(), k.Now().Add(replayAgain)
		if err != nil {
			waiting, t.replay = err.Error(), k.Now().Add(replayFailed)
		}
		if said.Done > 0 || waiting != t.waits {
			k.Log.Info("queue", "done", said.Done, "waiting", said.Waiting, "left", said.Left, "why", waiting)
		}
		t.waits = waiting
		if all, err = k.db.Queued(); err != nil {
			return err
		}
	}
	k.say(func(r *guard.Report) { r.Queue, r.Waiting = len(all), waiting })
	return nil
}

// A said is the output of `plumbline-cni replay`.
type said struct {
	Done    int      `json:"done"`
	Waiting int      `json:"waiting"`
	Left    int      `json:"left"`
	Why     []string `json:"why"`
	Trouble string   `json:"trouble"`
}

// waits returns why the first waiting DEL waits.
func (s *said) waits() string {
	if len(s.Why) == 0 {
		return ""
	}
	return short(s.Why[0])
}

// replay runs the guard's program in the host's root file system and waits for it.
func (k *daemon) replay(ctx context.Context, s *stage) (said, error) {
	ctx, stop := context.WithTimeout(ctx, replayPatience)
	defer stop()
	config, err := hostfile.ReadFollow(s.file, maxConf)
	if err != nil {
		return said{}, fmt.Errorf("read the network configuration: %w", err)
	}
	out, words, ran := k.onHost(ctx, s, config, nil, s.program.host, "replay")
	told, err := parseSaid(out)
	switch {
	case ctx.Err() != nil:
		return told, fmt.Errorf("run the queued DELs: %w", ctx.Err())
	case told.Trouble != "":
		return told, fmt.Errorf("run the queued DELs: %s", short(told.Trouble))
	case ran != nil:
		return told, fmt.Errorf("run the queued DELs: %w: %s", ran, short(words))
	case err != nil:
		return told, fmt.Errorf("run the queued DELs: %w", err)
	}
	return told, nil
}

func parseSaid(raw []byte) (said, error) {
	var s said
	if json.Unmarshal(raw, &s) != nil || s.Done < 0 || s.Waiting < 0 || s.Left < 0 {
		return said{}, errors.New("plumbline-cni replay returned no valid result")
	}
	return s, nil
}

// short returns the first line of a text, at most 500 bytes.
func short(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 500)], "")
}
