package server

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/observe"
)

// write appends queued entries to the event log. What could not be written is counted, and the log
// itself says how many there were as soon as it can be written again.
func (s *Server) write(ctx context.Context) {
	w := logWriter{Server: s}
	defer w.close()
	for {
		select {
		case <-ctx.Done():
			w.rest()
			return
		case c := <-s.entries:
			if c.table != 0 && s.record != "" {
				_ = observe.Wait(ctx, c.At.Add(settleHear).Sub(s.now()))
			}
			w.write(c)
		}
	}
}

// A logWriter writes the event log of the agent.
type logWriter struct {
	*Server
	to   *eventlog.Record // nil if it could not be opened
	said string           // the last error
}

// rest writes what is queued at the end.
func (w *logWriter) rest() {
	for {
		select {
		case c := <-w.entries:
			w.write(c)
		default:
			return
		}
	}
}

func (w *logWriter) write(c change) {
	if w.record == "" {
		return
	}
	if c.table != 0 {
		c.Port, c.Writer = w.writers.of(&c)
	}
	err := w.append(c.Entry)
	if err == nil {
		w.said = ""
		return
	}
	w.lost.Add(1)
	w.close()
	if text := err.Error(); text != w.said { // a full disk is logged once
		w.log.Warn("cannot write the event log", "error", err)
		w.said = text
	}
}

func (w *logWriter) append(e eventlog.Entry) (err error) {
	if w.to == nil {
		if w.to, err = eventlog.Open(w.record); err != nil {
			w.to = nil
			return err
		}
	}
	lost := w.lost.Load()
	entries := []eventlog.Entry{e}
	if lost > 0 {
		entries = append(entries, eventlog.Entry{At: w.now(), By: "agent", What: "lost", Of: "events", Note: fmt.Sprintf("%d events could not be written", lost)})
	}
	if err := w.to.Append(entries...); err != nil {
		return err
	}
	w.lost.Add(-lost)
	return nil
}

func (w *logWriter) close() {
	if w.to != nil {
		_ = w.to.Close()
		w.to = nil
	}
}
