package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/timeline/pick"
)

// read goes through the files, the newest first; and once more if containers came up whose
// lines may have been passed by.
func (l *logReader) read(ctx context.Context, q pick.Question, a *logAnswer) {
	l.reading("the directories")
	zone := l.zone()
	files, missing := l.find(ctx)
	a.begin(zone, missing)
	left := int64(maxLogRead)
	m := pick.NewMatcher(q)
	first := &logPass{l: l, m: m, since: q.Since, zone: zone, left: &left, used: map[string]int{}}
	for i := range files {
		a.take(i, first.one(ctx, &files[i]))
	}
	learned := m.Learned()
	if len(learned) == 0 {
		return
	}
	a.learn(learned, m.Full())
	late := 0
	second := &logPass{l: l, m: m.Again(), since: q.Since, zone: zone, left: &left, used: map[string]int{}}
	for i := range files {
		s := second.one(ctx, &files[i])
		if errors.Is(s.unread, errLogsTime) || errors.Is(s.unread, errLogsRead) {
			late++
			continue
		}
		a.take(i, s)
	}
	if late > 0 {
		a.leave(fmt.Sprintf("lines that have only an ID of the pod's may be missing: there was no time to look for them in %d of %d files", late, len(files)))
	}
}

// A logPass is one way through the files.
type logPass struct {
	l     *logReader
	m     *pick.Matcher
	since time.Time
	zone  *time.Location
	left  *int64
	used  map[string]int // bytes that each component has of the answer
}

// A logLines is what one file has given.
type logLines struct {
	agent.LogFile
	picked
	cut    int      // lines that were too long
	unread error    // why it was not read, or not to its end
	damage []string // of a journal: what of it could not be read
	older  bool     // it ends before what was asked for
}

var errLogsFull = fmt.Errorf("newer lines of the same component are %d MiB already", perSource>>20)

// one reads one file.
func (p *logPass) one(ctx context.Context, f *logFile) *logLines {
	s := &logLines{
		LogFile: agent.LogFile{Name: f.name, Source: f.source, Modified: f.modified.UTC()},
		picked:  picked{file: f.name, room: perSource - p.used[f.source], masks: p.l.masks, ours: f.source == eventSource},
	}
	switch {
	case !p.since.IsZero() && f.modified.Before(p.since):
		s.older = true
		return s
	case s.room < maxLogLine:
		s.unread = errLogsFull
		return s
	case ctx.Err() != nil:
		s.unread = errLogsTime
		return s
	}
	p.l.reading(f.name)
	s.unread = p.through(ctx, f, s)
	p.used[f.source] += s.size()
	s.Handed, s.Dropped = s.count(), s.dropped
	return s
}

func (p *logPass) through(ctx context.Context, f *logFile, s *logLines) (err error) {
	in, err := f.open(ctx, p.since)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	text, skipped, err := unpacked(f, in)
	if err != nil {
		return err
	}
	s.Skipped = skipped
	m := &meter{ctx: ctx, in: text, left: p.left}
	pick := p.m.Pick(f.source, f.modified, p.zone)
	err = lines(m, skipped > 0, func(number uint32, line []byte, cut bool) {
		s.Lines = number
		if !pick.Wants(line) {
			return
		}
		if cut {
			s.cut++
		}
		s.add(number, line)
	})
	s.Bytes = m.read
	if t, ok := in.(*journalText); ok {
		s.damage = t.damage()
	}
	return err
}
