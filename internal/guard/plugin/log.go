package plugin

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/scrub"
)

// log writes the event to memory: the agent takes it to the disk, when nobody waits.
func (s *session) log(a *answer) {
	defer func() { _ = recover() }() // the answer is more than its record
	s.reach("log")
	c, e := &s.call, &s.event
	now := s.Now()
	e.Key, e.Namespace, e.Pod, e.UID = c.Key(), c.Namespace, c.Pod, c.UID
	e.Delegate, e.Mode, e.Called, e.Took = s.entry.kind, s.as, s.called, now.Sub(s.began).Milliseconds()
	if c.Verb == guard.Status && a.ok() && len(e.Trouble) == 0 {
		return // the kubelet asks all the time
	}
	if !a.ok() {
		e.Code, e.Error = max(1, a.code), wrong(a)
	}
	row, err := json.Marshal(e)
	if err != nil {
		return
	}
	r, err := eventlog.Open(filepath.Join(s.Dir, guard.EventDir))
	if err != nil {
		return
	}
	defer r.Close()
	what := string(c.Verb)
	if s.replays {
		what = "REPLAY"
	}
	_ = r.Append(eventlog.Entry{At: now, By: "guard", Of: "cni", What: what, Name: e.Subject(), Now: row, Note: e.Note()})
}

// wrong says why a call has no success: the message of a CNI error, never anything else
// that a plugin wrote.
func wrong(a *answer) string {
	if a.trouble != nil {
		return first(a.trouble.Error())
	}
	var said struct {
		Msg string `json:"msg"`
	}
	if json.Unmarshal(a.out, &said) != nil {
		return "the plugin did not say why"
	}
	return first(said.Msg)
}

// maxNote is how much of a message is kept.
const maxNote = 500

// first gives the first line of a message, without credentials.
func first(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(scrub.String(text)), "\n")
	if len(line) > maxNote {
		line = line[:maxNote]
		for len(line) > 0 && !utf8.ValidString(line) {
			line = line[:len(line)-1]
		}
	}
	return strings.ToValidUTF8(line, "?")
}
