package timeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
)

// glance is how often files are looked at for more.
const glance = time.Second

// A follower shows what is new in logs.
type follower struct {
	sess *term.Session
	q    question
	log  *timeline.Log
	told map[string]bool // events and verdicts that were shown
	day  string          // of the event that was shown last, and its zone
}

// follow tells what there is, and goes on with what is new until it is stopped.
func follow(ctx context.Context, sess *term.Session, q question, f flags) error {
	if f.output != "text" && f.output != "wide" {
		return errors.New("--follow works with -o text only")
	}
	tail, err := parse.NewTail(f.logs, q.Within)
	if err != nil {
		return err
	}
	tail.Log.InZone(q.Zone)
	fo := &follower{sess: sess, q: q, log: tail.Log, told: map[string]bool{}}
	for {
		grown, behind, err := tail.Read(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil // it was stopped
			}
			return err
		}
		fo.show(!grown) // what is being written is not judged: its end may be the next line
		if !behind && cluster.Wait(ctx, glance) != nil || ctx.Err() != nil {
			return nil
		}
	}
}

// show prints the events that were not shown before, and the verdicts if it is time.
func (fo *follower) show(judged bool) {
	cols := fo.sess.Width()
	files := fo.log.Files()
	for _, s := range storiesOf(fo.log, fo.q) {
		for i := range s.Events {
			e := &s.Events[i]
			where := files[e.Place.File].At(e.Place.Line)
			if fo.told[where+e.Kind.String()] {
				continue
			}
			fo.told[where+e.Kind.String()] = true
			what := e.Kind.String()
			if e.Address.IsValid() {
				what += " " + e.Address.String()
			}
			at := "        "
			if !e.At.IsZero() {
				at = e.At.Format("15:04:05")
				if day := e.At.Format("2006-01-02 -07:00"); day != fo.day {
					fo.day = day
					fmt.Fprintln(fo.sess.Stdout, day)
				}
			}
			fo.sess.PrintRow(cols, fmt.Sprintf("%s  %-8s  %-34s %s", at, plain.Dash(plain.ShortID(e.Sandbox)), what, filepath.Base(where)))
		}
		if !judged {
			continue
		}
		for _, v := range s.Verdicts {
			text := fmt.Sprintf("%s: %s [%s]", v.Cause, v.Says, v.Certainty)
			if !fo.told[text] {
				fo.told[text] = true
				fo.sess.PrintLabelled(cols, "VERDICT   ", text)
			}
		}
	}
}
