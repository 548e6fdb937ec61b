package timeline

import (
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// maxEvents bounds a log. Beyond it the events added first are dropped, and Left reports it.
const maxEvents = 3_000_000

// A Log holds the events of many files in little memory and gives them as stories. Add may be
// called from several goroutines. Queries build an index first; Stories and Pod read without the
// lock after that, so nothing may be added meanwhile.
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
	ends      map[uint16]int64 // per file, the latest timestamp of an event; of any line after SetFiles
	dels      map[uint16]bool  // files that contain DELs
	named     map[string]bool  // nodes for which Calico uses their own name
	dropped   int              // events dropped beyond limit
	index     *index           // nil after Add
	zoned     bool             // a time of an event is of a known zone
	told      *time.Location   // zone of timestamps that show none, by the user; nil if not told
}

// NewLog gives an empty log.
func NewLog() *Log {
	return &Log{
		limit: maxEvents, texts: newTexts(), subjects: newInterned[subject](), addresses: newInterned[netip.Addr](),
		sources: []string{""}, zones: zones{}, ends: map[uint16]int64{},
		dels: map[uint16]bool{}, named: map[string]bool{},
	}
}

// InZone says which zone timestamps have whose zone nothing shows. It must be called before SetFiles.
func (l *Log) InZone(z *time.Location) { l.told = z }

// Add adds an event.
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

// endsAt notes that a file has a line of that time.
func (l *Log) endsAt(file uint16, at time.Time) {
	if end, ok := l.ends[file]; !at.IsZero() && (!ok || at.UnixNano() > end) {
		l.ends[file] = at.UnixNano()
	}
}

// Len gives the number of events held.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events.len()
}

// SetFiles sets the files that Place.File numbers.
func (l *Log) SetFiles(files []File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = files
	l.settleZones(l.told)
	for i := range files {
		l.zones.note(files[i].East)
		l.endsAt(uint16(i), files[i].Ends)
	}
}

// Files gives the files that Place.File numbers.
func (l *Log) Files() []File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files
}

// Left reports what was not kept.
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
