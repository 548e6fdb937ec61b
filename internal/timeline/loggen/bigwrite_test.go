//go:build e2e

package loggen_test

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/loggen"
)

// A sketch counts distinct lines by linear counting: with 2²⁹ bits its error is far below
// one in a thousand for a hundred million lines.
type sketch struct {
	bits []uint64
	seed maphash.Seed
}

const sketchBits = 1 << 29

func newSketch() *sketch {
	return &sketch{bits: make([]uint64, sketchBits/64), seed: maphash.MakeSeed()}
}

func (s *sketch) add(line []byte) {
	h := maphash.Bytes(s.seed, line) % sketchBits
	s.bits[h/64] |= 1 << (h % 64)
}

func (s *sketch) count() int64 {
	set := 0
	for _, w := range s.bits {
		set += bits.OnesCount64(w)
	}
	return int64(-sketchBits * math.Log(1-float64(set)/sketchBits))
}

// A sum is what was written.
type sum struct {
	lines, bytes int64
	distinct     *sketch
}

// writeBig writes hours of a cluster of up to a hundred nodes, one history after the other, in
// ten parts of the same size. It gives the parts, and a pod of which there is a verdict.
func writeBig(t *testing.T, dir string, size int64) (parts []string, pod string, s sum) {
	t.Helper()
	s.distinct = newSketch()
	begin := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	lines := int(min(200_000, max(5_000, size/10/300)))
	nodes := int(min(100, max(8, size>>26))) // small files would cost more than their lines
	seed := uint64(0)
	for p := range 10 {
		part := filepath.Join(dir, fmt.Sprintf("part-%02d", p))
		parts = append(parts, part)
		for s.bytes < size/10*int64(p+1) {
			h, err := loggen.Make(loggen.Plan{
				Seed: seed, Nodes: nodes, Incidents: 3, Pods: 30, Lasts: time.Hour, Noise: 0.95, Lines: lines, Drop: 0.01,
				Begin: begin.Add(time.Duration(seed) * time.Hour),
			})
			if err != nil {
				t.Fatal(err)
			}
			for name, b := range h.Files() {
				s.count(b)
				appendTo(t, filepath.Join(part, name), b)
			}
			for _, x := range h.Truth {
				if x.Cause == timeline.LateDel {
					pod = x.Pod
				}
			}
			seed++
		}
	}
	return parts, pod, s
}

func (s *sum) count(b []byte) {
	s.bytes += int64(len(b))
	for l := range bytes.Lines(b) {
		s.lines++
		s.distinct.add(l)
	}
}

func appendTo(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// maxRSS gives the most memory that an ended process had, in kB.
func maxRSS(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}
