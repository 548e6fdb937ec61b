package calico

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// The functions below read rows that come by the hundred thousand. Each reports whether it
// could; if not, its careful counterpart decides and reports the error.

var (
	objectFields   = []string{"metadata", "spec"}
	metaFields     = []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels", "managedFields"}
	managedFields  = []string{"time"}
	handleFields   = []string{"handleID", "block", "deleted"}
	affinityFields = []string{"state", "node", "type", "cidr", "deleted"}
)

// A header is what we use around an object's spec, the spec itself, and whether IPAM's
// labels are on it. Its parts point into the item.
type header struct {
	name, uid, revision, spec []byte
	written                   model.Time
	labelled                  bool
}

func (h *header) origin(k *arena) origin {
	k = k.orNew()
	return origin{k.own(h.name), k.own(h.uid), k.own(h.revision), h.written, k}
}

func scanHeader(b []byte) (h header, ok bool) {
	s := scan{b: b}
	var seen uint
	s.object(func(name []byte) {
		switch s.which(name, objectFields, &seen) {
		case 0:
			s.meta(&h)
		case 1:
			s.peek()
			from := s.i
			s.skip(0)
			h.spec = s.b[from:s.i]
		default:
			s.skip(0)
		}
	})
	if h.spec == nil {
		h.spec = []byte("{}")
	}
	return h, s.end() && len(b) <= maxObject
}

func (s *scan) meta(h *header) {
	var seen uint
	s.object(func(name []byte) {
		switch s.which(name, metaFields, &seen) {
		case 0:
			h.name = s.text()
		case 1:
			s.text()
		case 2:
			h.uid = s.text()
		case 3:
			h.revision = s.text()
		case 4:
			h.written = max(h.written, s.time())
		case 5:
			h.labelled = s.labels()
		case 6:
			s.array(func() {
				var seen uint
				s.object(func(name []byte) {
					if s.which(name, managedFields, &seen) == 0 {
						h.written = max(h.written, s.time())
					} else {
						s.skip(0)
					}
				})
			})
		default:
			s.skip(0)
		}
	})
}

func (s *scan) time() (t model.Time) {
	if t.UnmarshalText(s.text()) != nil {
		s.bad = true
	}
	return t
}

// labels reports whether all labels by which IPAM finds an affinity exist.
func (s *scan) labels() bool {
	var seen uint
	all := 0
	s.object(func(name []byte) {
		i := s.which(name, object.IPAMLabels, &seen)
		if len(s.text()) > 0 && i >= 0 {
			all++
		}
	})
	return all == len(object.IPAMLabels)
}

func scanHandle(b []byte, o origin) (row model.Handle, ok bool) {
	s := scan{b: b}
	o.keep = o.keep.orNew()
	row = model.Handle{Name: o.name, UID: o.uid, Written: o.written, Revision: o.revision}
	var seen uint
	var few [4]model.BlockCount
	counts := few[:0]
	s.object(func(name []byte) {
		switch s.which(name, handleFields, &seen) {
		case 0:
			if id := s.text(); string(id) == o.name {
				row.ID = o.name // share one copy of a long string
			} else {
				row.ID = o.keep.own(id)
			}
		case 1:
			s.object(func(cidr []byte) {
				c := model.BlockCount{CIDR: s.prefix(cidr)}
				c.Count = int(s.small())
				counts = append(counts, c)
			})
		case 2:
			row.Deleted = s.boolean()
		default:
			s.skip(0)
		}
	})
	row.ID = cmp.Or(row.ID, o.name)
	slices.SortFunc(counts, byRange)
	s.bad = s.bad || repeats(counts, byRange)
	if len(counts) > 0 {
		row.Blocks = o.keep.counts.Of(counts)
	}
	return row, s.end() && len(b) <= maxObject
}

// repeats reports whether two sorted rows are equal: a name occurred twice in JSON.
func repeats[T any](rows []T, by func(a, b T) int) bool {
	for i := 1; i < len(rows); i++ {
		if by(rows[i-1], rows[i]) == 0 {
			return true
		}
	}
	return false
}

func (s *scan) prefix(b []byte) netip.Prefix {
	p, err := netip.ParsePrefix(string(b))
	if err != nil {
		s.bad = true
	}
	return p
}

func scanAffinity(b []byte, o origin) (row model.Affinity, ok bool) {
	s := scan{b: b}
	o.keep = o.keep.orNew()
	row = model.Affinity{Name: o.name, UID: o.uid, Written: o.written, Revision: o.revision}
	var seen uint
	s.object(func(name []byte) {
		switch s.which(name, affinityFields, &seen) {
		case 0:
			row.State = o.keep.shared(s.text())
		case 1:
			row.Node = o.keep.own(s.text())
		case 2:
			row.Type = o.keep.shared(s.text())
		case 3:
			if cidr := s.text(); len(cidr) > 0 {
				row.CIDR = s.prefix(cidr)
			}
		case 4:
			if s.peek() == '"' {
				row.Deleted = bytes.Contains(s.text(), []byte("true"))
			} else {
				row.Deleted = s.boolean()
			}
		default:
			s.skip(0)
		}
	})
	row.Type, row.State = cmp.Or(row.Type, "host"), cmp.Or(row.State, "confirmed")
	return row, s.end() && len(b) <= maxObject
}
