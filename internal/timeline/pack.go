package timeline

import (
	"math"
	"strings"
	"time"
)

// A subject is the objects that an event is about, as numbers of Log.texts; 0 is unknown. Many
// events share one.
type subject struct {
	node, pod, uid, sandbox, container, device uint32
}

// packed is an event in 40 bytes without pointers. subject, address, object and note are numbers
// of Log.subjects, Log.addresses and Log.texts.
type packed struct {
	at      int64 // nanoseconds since 1970; noTime if the line has none
	subject uint32
	address uint32
	object  uint32
	note    uint32
	line    uint32
	count   uint32
	file    uint16
	zone    int16 // minutes east
	kind    Kind
	source  uint8
	zoneBy  ZoneBy
}

const noTime = math.MinInt64

// pack converts an event. l.mu must be held.
func (l *Log) pack(e *Event) packed {
	if e.Sandbox == "" && e.Pod == "" {
		e.Sandbox = SandboxOf(e.Object)
	}
	p := packed{
		at: noTime, kind: e.Kind, source: l.source(e.Source), line: e.Place.Line, file: e.Place.File,
		count: uint32(min(max(0, e.Count), math.MaxUint32)), address: l.addresses.number(e.Address),
		object: l.texts.number(e.Object, maxNotes), note: l.texts.number(e.Note, maxNotes),
		subject: l.subjects.number(subject{
			node: l.text(e.Node), pod: l.text(e.Pod), uid: l.text(e.UID),
			sandbox: l.text(e.Sandbox), container: l.text(e.Container), device: l.text(e.Device),
		}),
	}
	if !e.At.IsZero() && e.At.Year() > 1700 && e.At.Year() < 2200 {
		_, east := e.At.Zone()
		p.at, p.zone, p.zoneBy = e.At.UnixNano(), int16(east/60), e.Zone
		l.zones.note(int(p.zone) * 60)
	}
	return p
}

func (l *Log) text(s string) uint32 { return l.texts.number(s, maxTexts) }

// source gives the number of a source; there are few.
func (l *Log) source(s string) uint8 {
	for i, have := range l.sources {
		if have == s {
			return uint8(i)
		}
	}
	if len(l.sources) == math.MaxUint8 {
		return 0
	}
	l.sources = append(l.sources, s)
	return uint8(len(l.sources) - 1)
}

// SandboxOf gives the container ID in a handle of the current form, k8s-pod-network.ID; empty if
// it has none.
func SandboxOf(handle string) string {
	id := handle[strings.LastIndexByte(handle, '.')+1:]
	if len(id) == 64 && len(id) < len(handle) && isHex(id) {
		return id
	}
	return ""
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// unpack converts back; s is the subject as completed by resolve.
func (l *Log) unpack(p *packed, s *named) Event {
	e := Event{
		Kind: p.kind, Source: l.sources[p.source], Node: s.node, Pod: s.pod, UID: s.uid, Sandbox: s.sandbox,
		Container: s.container, Device: s.device, Address: l.addresses.value(p.address),
		Object: string(l.texts.get(p.object)), Note: string(l.texts.get(p.note)), Count: int(p.count),
		Place: Place{File: p.file, Line: p.line}, Zone: p.zoneBy,
	}
	if p.at != noTime {
		e.At = time.Unix(0, p.at).In(l.zones.of(p, l.files))
	}
	return e
}

// named is a subject with its texts.
type named struct {
	node, pod, uid, sandbox, container, device string
}

func (l *Log) name(s subject) named {
	word := func(n uint32) string { return string(l.texts.get(n)) }
	return named{
		node: word(s.node), pod: word(s.pod), uid: word(s.uid),
		sandbox: word(s.sandbox), container: word(s.container), device: word(s.device),
	}
}
