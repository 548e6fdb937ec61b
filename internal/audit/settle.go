package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// How long a difference may last in a healthy cluster, by class.
const (
	defaultGrace = 900             // of Calico's collector, in seconds, if it cannot be read
	transient    = 2 * time.Minute // calico-ipam's 90 s for its two writes, and 30 s to clean up
	teardown     = 6 * time.Minute // the kubelet waits four minutes for a sandbox
	kernel       = 3 * time.Minute // two of Felix' looks at the kernel, 90 s apart
	leakFactor   = 3               // halves of the collector's grace: 1.5
)

// A settler turns suspicions into findings when their age is proven.
type settler struct {
	now           model.Time
	fixed         time.Duration
	gcGracePeriod int64 // the collector's, in seconds
	memory        Memory
}

// time is how long a difference of a class must have lasted.
func (s settler) time(c finding.Class) time.Duration {
	if s.fixed > 0 && c != finding.Now {
		return s.fixed
	}
	switch c {
	case finding.Transient:
		return transient
	case finding.Teardown:
		return teardown
	case finding.Kernel:
		return kernel
	case finding.Leak:
		return max(teardown, time.Duration(s.gcGracePeriod)*time.Second*leakFactor/2)
	case finding.Now, finding.Node:
		return 0
	default:
		return teardown
	}
}

// settle decides, or says when it can be decided.
func (s settler) settle(f *finding.Finding) {
	switch {
	case f.Class == finding.Now:
		f.State = finding.Confirmed
		f.Since = f.Proven()
		return
	case f.Class == finding.Node:
		f.Why = "only its node can prove it"
		return
	case f.Why != "":
		f.RecheckAfter = s.now.Add(s.time(f.Class))
		return
	}
	since := f.Proven()
	if seen, ok := s.memory[f.Key()]; ok && seen.Digest == digestOf(f) && (since.IsZero() || seen.First < since) {
		since = seen.First
	}
	if since.IsZero() {
		since = s.now
	}
	need := s.time(f.Class)
	f.Since = since
	if s.now.Sub(since) >= need {
		f.State = finding.Confirmed
		return
	}
	f.RecheckAfter = since.Add(need)
	f.Why = "may still settle by itself"
}

// A Memory is what earlier runs saw: our own waiting, across runs.
type Memory map[string]Observation

// A Observation is a suspicion that was seen before.
type Observation struct {
	Digest string     `json:"facts"` // a digest of what was seen
	First  model.Time `json:"first"` // by the API server's clock
	Last   model.Time `json:"last"`
}

// remembered is how long a sighting is kept that was not asked about again; more than
// that, and it proves too little.
const (
	remembered      = 24 * time.Hour
	maxObservations = 200_000
)

// remember gives the memory for the next run. Others are candidates that were not asked
// about this time.
func remember(old Memory, found []finding.Finding, judged map[finding.Code]int, others map[string]bool, now model.Time) Memory {
	out := Memory{}
	for k, s := range old {
		code, _, _ := strings.Cut(k, "/")
		if _, again := judged[finding.Code(code)]; (!again || others[k]) && now.Sub(s.Last) < remembered {
			out[k] = s
		}
	}
	for i := range found {
		f := &found[i]
		if f.Class == finding.Now || f.Class == finding.Node || len(out) >= maxObservations {
			continue
		}
		if f.Why != "" { // not looked at twice: no sighting, but an older one stays
			if before, ok := old[f.Key()]; ok && now.Sub(before.Last) < remembered {
				out[f.Key()] = before
			}
			continue
		}
		s := Observation{Digest: digestOf(f), First: now, Last: now}
		if before, ok := old[f.Key()]; ok && before.Digest == s.Digest && now.Sub(before.Last) < remembered {
			s.First = before.First
		}
		out[f.Key()] = s
	}
	return out
}

// digestOf is a digest of what the evidence says.
func digestOf(f *finding.Finding) string {
	h := sha256.New()
	for _, e := range f.Evidence {
		h.Write([]byte(e.Ref.String() + "\x00" + e.Says + "\x00"))
		if e.Ref.Kind == model.KindHandle || e.Ref.Kind == model.KindAffinity {
			h.Write([]byte(e.Revision)) // these are used again: only an unchanged one has lasted
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
