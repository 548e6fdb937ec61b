package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"plumbline.dev/plumbline/internal/guard"
)

// A replayed is the result of one run over the queue, as JSON on standard output.
type replayed struct {
	Done    int      `json:"done"`
	Waiting int      `json:"waiting"`           // tried, and put off
	Left    int      `json:"left"`              // not due yet, or not come to
	Why     []string `json:"why,omitempty"`     // the first of those that wait
	Trouble string   `json:"trouble,omitempty"` // nothing could be done
}

// Bounds of one replay, beside its time limit.
const (
	maxDeeds = 100  // calls of the delegate
	maxLooks = 2000 // queue entries that are read
	maxWhys  = 10
)

// A replay is one run over the queue.
type replay struct {
	*World
	entry *entry
	db    ownerDB
	now   int64               // in seconds after boot
	deeds int                 // calls of the delegate so far
	rests map[guard.Name]bool // names for which a DEL already waits
	said  replayed
}

// Replay carries out the queued DELs that are due, with the network configuration from
// standard input, and writes the result to standard output. It returns the exit code.
func Replay(w World) int {
	w.withDefaults()
	r := &replay{World: &w, rests: map[guard.Name]bool{}}
	if err := r.run(); err != nil {
		r.said.Trouble = first(err.Error())
	}
	b, _ := json.Marshal(&r.said) // strings and numbers always can be marshalled
	if _, err := w.Stdout.Write(append(b, '\n')); err != nil || r.said.Trouble != "" {
		return 1
	}
	return 0
}

func (r *replay) run() error {
	config, err := io.ReadAll(io.LimitReader(r.Stdin, maxConfig+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the network configuration: %w", err)
	case len(config) > maxConfig:
		return errors.New("the network configuration is longer than 8 MiB")
	}
	if r.entry, err = entryOf(config, word(filepath.Join(r.Dir, guard.KindFile))); err != nil {
		return err
	}
	if r.db, err = r.open(filepath.Join(r.Dir, guard.OwnersDir)); err != nil {
		return err
	}
	queue, err := r.db.Queued()
	if err != nil {
		return err
	}
	now, err := r.boot()
	if err != nil {
		return err
	}
	r.now = int64(now.Seconds())
	r.all(queue)
	return nil
}

// all goes through the queue, first due first. A DEL that hangs uses up the time of the
// run: it is postponed, and the others follow in the next run.
func (r *replay) all(queue []guard.QueuedDel) {
	ctx, stop := context.WithTimeout(context.Background(), r.patience)
	defer stop()
	early, stop := context.WithTimeout(ctx, r.patience/3)
	defer stop()
	for i, l := range queue {
		if l.At > r.now || i == maxLooks || r.deeds >= maxDeeds || early.Err() != nil {
			r.said.Left = len(queue) - i
			return
		}
		switch why := r.one(ctx, l); why {
		case "":
			r.said.Done++
		default:
			r.said.Waiting++
			if len(r.said.Why) < maxWhys {
				r.said.Why = append(r.said.Why, first(fmt.Sprintf("%s (%s/%s): %s", l.Container, l.Namespace, l.Pod, why)))
			}
		}
	}
}
