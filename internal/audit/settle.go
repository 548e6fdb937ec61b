package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Minimum durations: how long a difference of a class may last in a healthy cluster.
const (
	defaultGrace = 900             // garbage-collection grace period in seconds, if it cannot be read
	transient    = 2 * time.Minute // calico-ipam has 90 s for its two writes, and 30 s to clean up
	teardown     = 6 * time.Minute // the kubelet waits four minutes for a sandbox
	kernel       = 3 * time.Minute // two resyncs of Felix, 90 s apart
	leakFactor   = 3               // in halves of the garbage-collection grace period: 1.5
)

// A settler confirms findings that are known to have lasted for the minimum duration.
type settler struct {
	// now is when the run began, by the API server's clock. Ages are counted up to it, so
	// that the duration of the run itself never makes a finding older.
	now           model.Time
	fixed         time.Duration // --settle: minimum duration of all classes but Now and Node; 0: each class's own
	gcGracePeriod int64         // garbage-collection grace period in seconds; 0: the collector is off
	memory        Memory        // observations of earlier runs; may be nil
}

// gracePeriod is that of the IPAM garbage collector in seconds; 0: it is off.
func gracePeriod(v *model.View) int64 {
	if c, ok := v.Collector(); ok {
		return c.LeakGracePeriod
	}
	return defaultGrace
}

// time is the minimum duration of a class. Invariant: 0 for Now; for Leak at least teardown,
// unless fixed is set. Node is never confirmed, so its value is not used.
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

// settle confirms the finding, or sets Why and, if waiting helps, RecheckAfter. f.State must
// be Unconfirmed; f.Why is not empty if the reread failed.
//
// A finding of class Now is confirmed at once, one of class Node never. A finding whose reread
// failed stays unconfirmed, whatever its age. All others are confirmed if the difference has
// lasted for the minimum duration, counted from the earlier of two times that prove it: when
// the objects were last changed (f.Proven), and the first observation of an earlier run with
// the same evidence. Without either, the age counts from now.
func (s settler) settle(f *finding.Finding) {
	switch {
	case f.Class == finding.Now:
		f.State = finding.Confirmed
		f.Since = f.Proven()
		return
	case f.Class == finding.Node:
		f.Why = "only its node can confirm it"
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
	f.Why = "may still resolve by itself"
}

// A Memory holds the observations of earlier runs, by the key of the finding. It lets a
// finding become confirmed over several runs although the objects have no times.
type Memory map[string]Observation

// An Observation is that consecutive runs found the same evidence. Invariant: First <= Last;
// every reread between them that could read the objects found evidence with this digest.
type Observation struct {
	Digest string     `json:"digest"` // digestOf the finding
	First  model.Time `json:"first"`  // end of the first reread (or read) that found it, by the API server's clock
	Last   model.Time `json:"last"`   // end of the latest one that found it
}

const (
	remembered      = 24 * time.Hour // an observation without a newer one is dropped after this: it proves too little
	maxObservations = 200_000        // limit for the size of a Memory
)

// remember returns the memory for the next run. now is when the reread ended. judged has the
// codes that ran; others has the keys of findings that --code and similar options excluded.
//
// An old observation is kept if its finding was not evaluated in this run, or if its reread
// failed (f.Why); it is dropped if the finding is gone, and restarts (First = now) if the
// digest changed. Classes Now and Node need no memory.
func remember(old Memory, found []finding.Finding, judged map[finding.Code]int, others map[string]bool, now model.Time) Memory {
	out := Memory{}
	for k, s := range old {
		key, _ := finding.ParseKey(k)
		if _, again := judged[key.Code]; (!again || others[k]) && now.Sub(s.Last) < remembered {
			out[k] = s
		}
	}
	for i := range found {
		f := &found[i]
		if f.Class == finding.Now || f.Class == finding.Node || len(out) >= maxObservations {
			continue
		}
		if f.Why != "" { // the reread failed: no observation, but an older one stays
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

// digestOf is a digest of the evidence: refs and Says, in order. Equal digests mean that the
// difference is the same one.
func digestOf(f *finding.Finding) string {
	h := sha256.New()
	for _, e := range f.Evidence {
		h.Write([]byte(e.Ref.String() + "\x00" + e.Says + "\x00"))
		if e.Ref.Kind == model.KindHandle || e.Ref.Kind == model.KindAffinity {
			h.Write([]byte(e.Revision)) // Calico reuses these objects: only an unchanged revision is the same difference
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
