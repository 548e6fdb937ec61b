package parse

import (
	"bytes"
	"strings"

	"plumbline.dev/plumbline/internal/scrub"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// maxWords bounds what is looked at of a component's words: a note is far shorter.
const maxWords = 8 << 10

// secrets tells that a record holds credentials, and of which sort, never which.
func (t *Parser) secrets(r *records.Record) {
	kinds := scrub.Find(r.Raw)
	if len(kinds) == 0 {
		return
	}
	t.event(r, sourceOf(r), timeline.Event{Kind: timeline.CredentialSeen, Note: strings.Join(kinds, ", ")})
}

// sourceOf gives who wrote a record, as far as its headers say.
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

// note makes a component's own words fit for an event. Secrets are taken out before it is
// cut: half of one would not be known any more.
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

// gap stands for the middle of a note that is too long: whom an error is about stands at
// its beginning, and why it came at its end.
const gap = " … "
