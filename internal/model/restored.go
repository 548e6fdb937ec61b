package model

// A Restored says that a datastore went back to an earlier time: somebody restored it from a backup. Whoever says so
// remembers its revision elsewhere, because all that is in the datastore goes back with it.
type Restored struct {
	Store string `json:"store"` // StoreKubernetes or StoreCalico
	From  uint64 `json:"from"`  // the revision that it had
	To    uint64 `json:"to"`    // the one that it had later: lower, or higher than writes can explain
	Since Time   `json:"since"` // when that was noticed
}

// IsZero tells that it says nothing.
func (r Restored) IsZero() bool { return r == Restored{} }

// The datastores. With the Kubernetes datastore, Calico's records are in the first.
const (
	StoreKubernetes = "kubernetes"
	StoreCalico     = "calico" // its own etcd
)

// A bumped revision is one that no writes explain: `etcdutl snapshot restore --bump-revision` adds a thousand millions,
// so that watches notice. etcd writes some ten thousands a second at most.
const (
	bumpAtLeast   = 100_000_000
	bumpPerSecond = 50_000
)

// WentBack tells that a datastore with revision was, and then revision is, seconds later, was restored in between. Both
// must be of reads that wait for all earlier writes, the second begun after the first had ended.
func WentBack(was, is uint64, seconds int64) bool {
	switch {
	case was == 0 || is == 0:
		return false
	case is < was:
		return true
	default:
		grown := is - was
		return grown > bumpAtLeast && (seconds <= 0 || grown/uint64(seconds) > bumpPerSecond)
	}
}

// RestoredFor is how long it is said that a datastore was restored, in seconds.
const RestoredFor = 24 * 60 * 60
