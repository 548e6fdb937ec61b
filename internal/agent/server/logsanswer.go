package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

const (
	maxSaid   = 100 // sentences about what is missing
	maxSaying = 300 // bytes of one
)

// A logAnswer is what has been read so far. It can be handed out while a read still hangs.
type logAnswer struct {
	mu      sync.Mutex
	ended   bool
	account agent.LogAccount
	zone    *time.Location
	taken   []*logLines // by the file's place in the list
}

func (a *logAnswer) begin(zone *time.Location, missing logMissing) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.zone = zone
	a.account.Absent = missing.absent
	a.account.Missing = append(a.account.Missing, missing.words...)
}

// take puts in what a file has given, instead of what it gave before.
func (a *logAnswer) take(i int, s *logLines) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended: // whoever asked has been answered
	case i == len(a.taken):
		a.taken = append(a.taken, s)
	default:
		a.taken[i] = s
	}
}

func (a *logAnswer) learn(ids []string, full bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.account.Learned = ids
	if full {
		a.account.Missing = append(a.account.Missing, fmt.Sprintf("more than %d containers came up: lines of the others are not looked for", len(ids)))
	}
}

func (a *logAnswer) leave(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.account.Missing = append(a.account.Missing, why)
	}
}

// end closes the account. What a read that hangs finds later is nobody's.
func (a *logAnswer) end(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.account.Taken = now.UTC()
	if a.zone != nil {
		a.account.Zone = now.In(a.zone).Format("-07:00")
	}
	a.ended = true
	older, room := 0, agent.MaxLogs
	for i, s := range a.taken {
		if room < s.size() { // of files that were read in two ways
			s = s.emptied()
			a.taken[i] = s
		}
		room -= s.size()
		if s.older {
			older++
			continue
		}
		a.account.Files = append(a.account.Files, s.LogFile)
		a.account.Missing = append(a.account.Missing, s.missing()...)
	}
	if older > 0 {
		a.account.Missing = append(a.account.Missing, fmt.Sprintf("%d files end before the time asked for", older))
	}
	if n := len(a.account.Missing); n > maxSaid {
		a.account.Missing = append(a.account.Missing[:maxSaid], fmt.Sprintf("and %d more", n-maxSaid))
	}
	for i, s := range a.account.Missing {
		a.account.Missing[i] = cut(s, maxSaying)
	}
}

// emptied is a file without its lines.
func (s *logLines) emptied() *logLines {
	out := *s
	out.dropped += s.count()
	out.head, out.tail, out.ahead, out.behind = nil, nil, 0, 0
	out.Handed, out.Dropped = 0, out.dropped
	return &out
}

// missing says what a file did not give.
func (s *logLines) missing() (out []string) {
	say := func(format string, args ...any) { out = append(out, s.Source+": "+fmt.Sprintf(format, args...)) }
	if s.unread != nil {
		say("%s is not read to its end: %v", s.Name, s.unread)
	}
	for _, d := range s.damage {
		say("of %s not everything is readable: %s", s.Name, d)
	}
	if s.Skipped > 0 {
		say("of %s the first %d MiB are not read; its lines are counted after them", s.Name, s.Skipped>>20)
	}
	if s.dropped > 0 {
		say("of %s %d lines are left out, in the midst: they do not fit; ask for a shorter time", s.Name, s.dropped)
	}
	if s.cut > 0 {
		say("of %s %d lines are longer than %d KiB and cut", s.Name, s.cut, maxLogLine>>10)
	}
	return out
}

// write sends the lines, and the account as the last of them.
func (a *logAnswer) write(w io.Writer) error {
	a.mu.Lock()
	taken, account := a.taken, a.account
	a.mu.Unlock()
	out := bufio.NewWriter(w)
	for _, s := range taken {
		for _, b := range slices.Concat(s.head, s.tail) {
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
	}
	b, err := json.Marshal(agent.LogRecord{End: &account})
	if err != nil {
		return err
	}
	if _, err := out.Write(append(b, '\n')); err != nil {
		return err
	}
	return out.Flush()
}
