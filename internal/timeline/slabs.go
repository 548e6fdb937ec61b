package timeline

// slabLen is how many things stand in one slab.
const slabLen = 1 << 13

// slabs is a list that grows without ever being copied, and whose oldest part can be let
// go. What it holds has no pointers, so that the collector has nothing to look at.
type slabs[T any] struct {
	blocks []*[slabLen]T
	first  int // number of the first that is still there; a multiple of slabLen
	end    int // number of the next
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

func (s *slabs[T]) len() int { return s.end - s.first }

// dropOldest lets the oldest slab go, and gives how many were in it.
func (s *slabs[T]) dropOldest() int {
	if len(s.blocks) < 2 {
		return 0
	}
	s.blocks[0] = nil
	s.blocks = s.blocks[1:]
	s.first += slabLen
	return slabLen
}
