package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"plumbline.dev/plumbline/internal/timeline/pick"
)

const maxLogFiles = 1024

// Logs asks the agent of a node for the lines of its logs about something. A node is
// believed about itself only.
func (f *Fleet) Logs(parent context.Context, node string, q pick.Question) (*Logs, error) {
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("ask %s for logs: %w", node, err)
	}
	ctx, cancel := context.WithTimeout(parent, LogsWithin+2*within)
	defer cancel()
	body, err := f.Open(ctx, node, PathLogs, q.Values())
	err = older(err)
	var out *Logs
	if err == nil {
		out, err = readLogs(body, node)
		err = errors.Join(err, body.Close())
	}
	if err != nil && parent.Err() == nil && ctx.Err() != nil {
		err = fmt.Errorf("no whole answer in %s", LogsWithin+2*within)
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s for logs: %w", node, err)
	}
	return out, nil
}

var (
	errLogsCut  = errors.New("the answer ends before its end")
	errLogsLong = errors.New("the answer is longer than agents' are")
)

// readLogs reads an answer. A node is a stranger: what it says is bounded, and no name of
// its can play tricks on a terminal.
func readLogs(r io.Reader, node string) (*Logs, error) {
	in := &io.LimitedReader{R: r, N: MaxLogs + maxLogsExtra}
	d := json.NewDecoder(in)
	texts := map[string]*LogText{}
	var order []*LogText
	for {
		var rec LogRecord
		switch err := d.Decode(&rec); {
		case err != nil && in.N <= 0:
			return nil, errLogsLong
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, errLogsCut
		case err != nil:
			return nil, err
		}
		if rec.End != nil {
			return rec.End.own(node, order)
		}
		t := texts[rec.File]
		if t == nil {
			if len(order) == maxLogFiles || !plainName(rec.File) {
				return nil, fmt.Errorf("%.60q is no file of a node's logs", rec.File)
			}
			t = &LogText{LogFile: LogFile{Name: rec.File}}
			texts[rec.File], order = t, append(order, t)
		}
		t.add(rec.Line, rec.Text)
	}
}

// own joins the account with the lines, if both are the node's.
func (a *LogAccount) own(node string, texts []*LogText) (*Logs, error) {
	if a.Node != node {
		return nil, fmt.Errorf("%.60q answers", a.Node)
	}
	of := map[string]LogFile{}
	for _, f := range a.Files {
		of[f.Name] = f
	}
	for i, s := range a.Missing {
		a.Missing[i] = printable(s)
	}
	out := &Logs{LogAccount: *a}
	for _, t := range texts {
		f, ok := of[t.Name]
		if !ok || f.Handed != len(t.numbers) {
			return nil, fmt.Errorf("of %s it handed out other lines than it says", t.Name)
		}
		t.LogFile = f
		out.Texts = append(out.Texts, *t)
	}
	return out, nil
}

func plainName(s string) bool {
	return s != "" && len(s) <= 512 && s == printable(s)
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// ZoneOf is the zone of the node's stamps that have none; nil if it is not known.
func (a *LogAccount) ZoneOf() *time.Location {
	t, err := time.Parse("-07:00", a.Zone)
	if err != nil {
		return nil
	}
	_, offset := t.Zone()
	return time.FixedZone(a.Zone, offset)
}
