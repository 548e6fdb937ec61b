//go:build e2e

package agentcost

import (
	"bytes"
	"fmt"
	"net/url"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// memory measures the agent's memory, threads and open files.
func (s *lookup) memory(t *testing.T, r *report) {
	t.Helper()
	p := s.process(t)
	rt := s.one(t, "containerd")
	r.add(fmt.Sprintf("memory with %d pods", *crowd), fmt.Sprintf("RSS %s, peak %s", megabytes(p.RSS), megabytes(p.Peak)), "containerd "+megabytes(rt.RSS))
	held := p.NetNS
	for range 5 { // a read holds one for a moment
		time.Sleep(200 * time.Millisecond)
		held = min(held, s.process(t).NetNS)
	}
	r.add("threads, open files, namespaces held", fmt.Sprintf("%d, %d, %d", p.Threads, p.Files, held), "")
	if p.Peak > maxRSS {
		t.Errorf("the agent's peak memory is %s", megabytes(p.Peak))
	}
	if held > 0 {
		t.Errorf("the agent holds %d network namespaces", held)
	}
}

const times = 50

// answers measures the size and duration of answers, compared with an empty answer.
func (s *lookup) answers(t *testing.T, r *report) {
	t.Helper()
	_, nothing := s.timed(t, agent.PathHealth, nil)
	bare := "healthz " + nothing.String()
	for _, c := range []struct {
		name, path string
		query      url.Values
	}{
		{"digest", agent.PathDigest, nil},
		{"all tables", agent.PathTables, nil},
		{"tables of one pod", agent.PathTables, url.Values{"pod": {"default/web"}}},
		{"verification, all reread", agent.PathVerify, url.Values{"ip": {"10.244.9.9"}}},
		{"all tables, all reread", agent.PathTables, url.Values{"fresh": {"1"}}},
	} {
		size, took := s.timed(t, c.path, c.query)
		r.add("answer: "+c.name, fmt.Sprintf("%s, %s", kilobytes(size), took), bare)
		bare = ""
	}
	s.late(t, r)
}

func (s *lookup) timed(t *testing.T, path string, query url.Values) (size int, took spread) {
	t.Helper()
	for range times {
		began := time.Now()
		b, err := s.ask.get(t.Context(), path, query)
		if err != nil {
			t.Fatalf("%s %v: %v", path, query, err)
		}
		took = append(took, time.Since(began))
		size = len(b)
	}
	return size, took
}

// late reports which tables could not be reread in time.
func (s *lookup) late(t *testing.T, r *report) {
	t.Helper()
	seen := map[string]int{}
	for range 10 {
		b, err := s.ask.get(t.Context(), agent.PathTables, url.Values{"fresh": {"1"}})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := snapshotio.ReadBundle(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range snap.Coverage {
			if !c.State.Seen() {
				seen[c.Table.String()+": "+c.Reason]++
			}
		}
	}
	r.add("in 10 reread answers, tables not in time", fmt.Sprint(seen), "")
}
