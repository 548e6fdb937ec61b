package web

import (
	"fmt"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/plain"
)

// A State is the last judgement, and what became of those before it.
type State struct {
	mu      sync.Mutex
	last    *judgement
	serial  uint64
	next    chan struct{} // is closed when there is something new to show
	past    past
	pools   *capacity.History
	reading string // what is read, until the first judgement
	notice  string // what interrupted following, since the last judgement
}

// NewState has no judgement yet.
func NewState() *State { return &State{next: make(chan struct{}), pools: capacity.NewHistory()} }

// Put takes the next judgement. What the caller does with the report's view afterwards does not matter here.
func (s *State) Put(r *audit.Report) {
	j := newJudgement(r)
	pools, known := capacity.Pools(j.look())
	s.mu.Lock()
	defer s.mu.Unlock()
	if known {
		s.pools.Note(time.Duration(r.Taken.Time().UnixNano()), pools)
	}
	s.past.note(r)
	s.last, s.notice = j, ""
	s.tell()
}

// tell wakes the pages. It is called with the lock.
func (s *State) tell() {
	s.serial++
	close(s.next)
	s.next = make(chan struct{})
}

// Reading tells what is read before the first judgement.
func (s *State) Reading(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = what
}

// Notice tells what a person should know about following the cluster; pages show it until the next judgement.
func (s *State) Notice(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice = text
	if s.last != nil {
		s.tell()
	}
}

// current is the last judgement, nil before the first; next is closed when there is another.
func (s *State) current() (j *judgement, serial uint64, next <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.serial, s.next
}

// Judged tells that there is a judgement.
func (s *State) Judged() bool {
	j, _, _ := s.current()
	return j != nil
}

// Namespaces are those that anything of the last judgement is in, sorted.
func (s *State) Namespaces() []string {
	j, _, _ := s.current()
	if j == nil {
		return nil
	}
	return j.namespaces()
}

// forecast tells when a pool has no free address any more; empty if that is unknown, or never.
func (s *State) forecast(p *capacity.Pool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, more, ok := s.pools.Empty(p)
	if !ok {
		return ""
	}
	out := fmt.Sprintf("no address left in %s at the growth seen", plain.Age(in))
	if p.Leaked > 0 {
		out += fmt.Sprintf("; %s later if what is leaked were free", plain.Age(more))
	}
	return out
}
