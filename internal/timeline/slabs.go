package timeline

import "iter"

// slabLen is the number of elements of one slab.
const slabLen = 1 << 13

// slabs is a list that grows without being copied and whose oldest part can be dropped. T has no
// pointers, so Go's garbage collector does not scan it. Elements are numbered first <= n < end.
type slabs[T any] struct {
	blocks []*[slabLen]T
	first  int // number of the first element still held; a multiple of slabLen
	end    int // number of the next element
}

func (s *slabs[T]) add(v T) int {
	if s.end%slabLen == 0 {
		s.blocks = append(s.blocks, new([slabLen]T))
	}
	s.blocks[len(s.blocks)-1][s.end%slabLen] = v
	s.end++
	return s.end - 1
}

func (s *slabs[T]) at(n int) *T { return &s.blocks[(n-s.first)/slabLen][n%slabLen] }

// all yields the elements that are held.
func (s *slabs[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for n := s.first; n < s.end; n++ {
			if !yield(s.at(n)) {
				return
			}
		}
	}
}

func (s *slabs[T]) len() int { return s.end - s.first }

// dropOldest drops the oldest slab and gives the number of its elements; the slab that is being
// filled is never dropped.
func (s *slabs[T]) dropOldest() int {
	if len(s.blocks) < 2 {
		return 0
	}
	s.blocks[0] = nil
	s.blocks = s.blocks[1:]
	s.first += slabLen
	return slabLen
}
