package calico

import (
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/model"
)

var (
	blockFields = []string{
		"cidr", "affinity", "allocations", "unallocated", "attributes", "sequenceNumber", "sequenceNumberForAllocation", "deleted",
		"strictAffinity", "affinityClaimTime", "hostAffinity",
	}
	attributeFields = []string{"handle_id", "secondary", "releasedAt"}
	ownerFields     = []string{"namespace", "node", "pod", "type", "service", "vmi-name"}
)

// A blockScan holds the lists of a block while they are read, and is reused.
type blockScan struct {
	scan
	keep       *arena
	held       []model.Slot
	free       []int32
	attributes []model.Attribute
	sequences  []model.Sequence
}

func scanBlock(b []byte, o origin) (row model.Block, ok bool) {
	k := o.keep.orNew()
	s := &k.block
	s.scan, s.keep = scan{b: b}, k
	s.held, s.free, s.attributes, s.sequences = s.held[:0], s.free[:0], s.attributes[:0], s.sequences[:0]
	row = model.Block{Name: o.name, UID: o.uid, Written: o.written, Revision: o.revision}
	var seen uint
	s.object(func(name []byte) { s.member(s.which(name, blockFields, &seen), &row) })
	slices.SortFunc(s.sequences, byOrdinal)
	if !s.end() || len(b) > maxObject || !row.CIDR.IsValid() || repeats(s.sequences, byOrdinal) {
		return model.Block{}, false
	}
	row.Held, row.Attributes, row.Sequences = some(&k.slots, s.held), some(&k.attributes, s.attributes), some(&k.sequences, s.sequences)
	if seen&(1<<3) != 0 {
		row.Free = k.free.Of(s.free)
	}
	return row, true
}

// some is nil for none.
func some[T any](in *model.Slab[T], rows []T) []T {
	if len(rows) == 0 {
		return nil
	}
	return in.Of(rows)
}

func (s *blockScan) member(field int, row *model.Block) {
	switch field {
	case 0:
		row.CIDR = s.prefix(s.text())
	case 1:
		row.Affinity = s.keep.own(s.text())
	case 2:
		s.array(func() {
			if !s.word("null") {
				s.held = append(s.held, model.Slot{int32(row.Length), s.small()})
			}
			row.Length++
		})
	case 3:
		s.array(func() { s.free = append(s.free, s.small()) })
	case 4:
		s.array(s.attribute)
	case 5:
		row.Sequence = s.positive()
	case 6:
		s.object(func(ordinal []byte) {
			n, err := strconv.ParseInt(string(ordinal), 10, 32)
			s.bad = s.bad || err != nil
			s.sequences = append(s.sequences, model.Sequence{Ordinal: int32(n), Number: s.positive()})
		})
	case 7:
		row.Deleted = s.boolean()
	case 8:
		s.boolean()
	case 9:
		s.skip(0)
	case 10:
		s.bad = true // format of an old version
	default:
		s.skip(0)
	}
}

// positive reads a number without a sign.
func (s *scan) positive() uint64 {
	n, negative := s.number()
	s.bad = s.bad || negative
	return n
}

// attribute reads the owner of ordinals.
func (s *blockScan) attribute() {
	var at model.Attribute
	var seen uint
	s.object(func(name []byte) {
		switch s.which(name, attributeFields, &seen) {
		case 0:
			at.Handle = s.keep.own(s.text())
		case 1:
			s.owner(&at)
		case 2:
			at.Cooling = !s.word("null")
			if at.Cooling {
				s.skip(0)
			}
		default:
			s.bad = true // everything else belongs to its digest
		}
	})
	s.attributes = append(s.attributes, at)
}

// owner reads the attributes and computes their digest as object.Attribute does: for that
// they must be sorted, as programs write them.
func (s *blockScan) owner(at *model.Attribute) {
	var seen uint
	var before []byte
	sum := digest(offset64)
	s.object(func(name []byte) {
		value := s.text()
		s.bad = s.bad || before != nil && string(before) >= string(name)
		before = name
		sum = sum.add(name).add(value)
		at.Other = uint64(sum)
		switch s.which(name, ownerFields, &seen) {
		case 0:
			at.Namespace = s.keep.shared(value)
		case 1:
			at.Node = s.keep.on(value)
		case 2:
			at.Pod = s.keep.own(value)
		case 3:
			at.Type = s.keep.shared(value)
		case 4:
			at.Service = s.keep.own(value)
		case 5:
			at.VM = s.keep.own(value)
		}
	})
}

// A digest is FNV-1a with 64 bits.
type digest uint64

const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

// add adds a text and a zero byte.
func (d digest) add(b []byte) digest {
	for _, c := range b {
		d = (d ^ digest(c)) * prime64
	}
	return d * prime64
}
