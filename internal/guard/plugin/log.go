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

// log appends the event to the log in /run. The guard daemon copies it to disk later, when
// no call waits.
func (s *session) log(a *answer) {
	defer func() { _ = recover() }() // an error here must not change the answer
	s.reach("log")
	c, e := &s.call, &s.event
	now := s.Now()
	e.Key, e.Namespace, e.Pod, e.UID = c.Key(), c.Namespace, c.Pod, c.UID
	e.Delegate, e.Mode, e.Called, e.Took = s.entry.kind, s.as, s.called, now.Sub(s.began).Milliseconds()
	if c.Verb == guard.Status && a.ok() && len(e.Trouble) == 0 {
		return // the kubelet calls STATUS all the time
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

// wrong returns why a call failed: the message of the CNI error, never anything else that
// the plugin wrote.
func wrong(a *answer) string {
	if a.trouble != nil {
		return first(a.trouble.Error())
	}
	var said struct {
		Msg string `json:"msg"`
	}
	if json.Unmarshal(a.out, &said) != nil {
		return "the plugin returned no CNI error"
	}
	return first(said.Msg)
}

// maxNote is the longest message that is stored, in bytes.
const maxNote = 500

// first returns the first line of a message, with credentials removed.
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
