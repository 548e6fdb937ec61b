package server

import (
	"bytes"
	"encoding/json"
	"regexp"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/scrub"
)

// perSource is what each of the four components may have of an answer: the loudest shall
// not silence the others.
const perSource = agent.MaxLogs / 4

// A picked is the lines of one file that are to be handed out, as they are sent. Where there
// are too many, the first quarter and the newest stay: how it began, and how it is.
type picked struct {
	file    string
	room    int
	masks   []*regexp.Regexp // patterns of the user
	ours    bool             // of our own event log
	head    [][]byte
	tail    [][]byte
	ahead   int // bytes of head
	behind  int // bytes of tail
	dropped int

	clean []byte
	out   bytes.Buffer
}

// add picks a line, without what looks like a credential and without specifications of
// containers: nothing but what is picked here leaves the node.
func (k *picked) add(number uint32, line []byte) {
	if k.ours { // a checksum holds the line together, and credentials were taken out when it was written
		k.clean = append(k.clean[:0], scrub.String(string(line))...)
	} else {
		k.clean = scrub.Outgoing(k.clean[:0], line, k.masks...)
	}
	k.out.Reset()
	e := json.NewEncoder(&k.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(agent.LogRecord{File: k.file, Line: number, Text: string(k.clean)}); err != nil {
		k.dropped++
		return
	}
	b := bytes.Clone(k.out.Bytes())
	if len(k.tail) == 0 && k.ahead+len(b) <= k.room/4 {
		k.head, k.ahead = append(k.head, b), k.ahead+len(b)
		return
	}
	k.tail, k.behind = append(k.tail, b), k.behind+len(b)
	for len(k.tail) > 0 && k.ahead+k.behind > k.room {
		k.behind -= len(k.tail[0])
		k.tail[0] = nil
		k.tail = k.tail[1:]
		k.dropped++
	}
}

func (k *picked) size() int { return k.ahead + k.behind }

func (k *picked) count() int { return len(k.head) + len(k.tail) }
