package parse

import (
	"bytes"
	"strings"

	"plumbline.dev/plumbline/internal/scrub"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// maxWords bounds how much of a message is searched: a note is far shorter.
const maxWords = 8 << 10

// secrets reports that a record contains credentials, with their type, never their value.
func (t *Parser) secrets(r *records.Record) {
	kinds := scrub.Find(r.Raw)
	if len(kinds) == 0 {
		return
	}
	t.event(r, sourceOf(r), timeline.Event{Kind: timeline.CredentialSeen, Note: strings.Join(kinds, ", ")})
}

// sourceOf gives the component that wrote a record, as far as its headers show.
func sourceOf(r *records.Record) string {
	switch {
	case r.Program != "":
		return r.Program
	case r.Style == records.Klog:
		return "kubelet"
	case r.Style == records.Bracket:
		return "cni"
	default:
		return "log"
	}
}

// note makes a message fit for an event. Credentials are removed before it is cut: half of one
// would not be recognised.
func note(words []byte) string {
	if len(words) > maxWords {
		words = words[:maxWords]
		if i := bytes.LastIndexByte(words, ' '); i >= 0 {
			words = words[:i]
		}
	}
	s := strings.TrimSpace(scrub.String(string(words)))
	if len(s) <= timeline.MaxNote {
		return s
	}
	half := (timeline.MaxNote - len(gap)) / 2
	return strings.ToValidUTF8(s[:half], "") + gap + strings.ToValidUTF8(s[len(s)-half:], "")
}

// gap replaces the middle of a note that is too long: the object of an error is at its beginning,
// the reason at its end.
const gap = " … "
