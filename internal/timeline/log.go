package timeline

import (
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// MaxEvents bounds a log. Beyond it the events that came first are let go, and said so.
const MaxEvents = 3_000_000

// A Log holds the events of many files in little room, and tells stories of them. It may
// be added to from several goroutines; asking it waits until nobody adds.
type Log struct {
	mu        sync.Mutex
	limit     int
	events    slabs[packed]
	texts     *texts
	subjects  *interned[subject]
	addresses *interned[netip.Addr]
	sources   []string
	zones     zones
	files     []File
	ends      map[uint16]int64 // per file, the latest stamp; of any line, once the files are known
	dels      map[uint16]bool  // files that tell of DELs
	named     map[string]bool  // nodes that Calico calls by their name
	dropped   int
	index     *index // of what was there when it was last asked
}

// NewLog gives an empty log.
func NewLog() *Log {
	return &Log{
		limit: MaxEvents, texts: newTexts(), subjects: newInterned[subject](), addresses: newInterned[netip.Addr](),
		sources: []string{""}, zones: zones{}, ends: map[uint16]int64{},
		dels: map[uint16]bool{}, named: map[string]bool{},
	}
}

// Add takes an event.
func (l *Log) Add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pack(&e)
	if l.events.len() >= l.limit {
		l.dropped += l.events.dropOldest()
	}
	l.events.add(p)
	l.endsAt(p.file, e.At)
	switch e.Kind {
	case DelBegin, DelEnd, DelStopped:
		l.dels[p.file] = true
	case NodeNamed:
		if sameHost(e.Object, e.Node) {
			l.named[e.Node] = true
		}
	default:
	}
	l.index = nil
}

// endsAt takes note that a file goes on until a moment.
func (l *Log) endsAt(file uint16, at time.Time) {
	if end, ok := l.ends[file]; !at.IsZero() && (!ok || at.UnixNano() > end) {
		l.ends[file] = at.UnixNano()
	}
}

// Len gives how many events are held.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events.len()
}

// SetFiles says which files the events' places mean.
func (l *Log) SetFiles(files []File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = files
	for i := range files {
		l.zones.note(files[i].East)
		l.endsAt(uint16(i), files[i].Ends)
	}
}

// Files gives the files that places mean.
func (l *Log) Files() []File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files
}

// Left says what was not kept.
func (l *Log) Left() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	if l.dropped > 0 {
		out = append(out, fmt.Sprintf("the first %d events: no more than %d are kept", l.dropped, l.limit))
	}
	if l.texts.lost > 0 {
		out = append(out, fmt.Sprintf("%d names or messages: no more than %d MiB of them are kept", l.texts.lost, maxTexts>>20))
	}
	return out
}
