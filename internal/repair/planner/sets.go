package planner

// sets is a union-find over names (objects and findings): x -> parent. A name without an
// entry is its own root. Invariant: a parent is smaller than its child, so the root is the
// smallest name of its set, whatever the order of joins.
type sets map[string]string

func (s sets) find(x string) string {
	for {
		up, ok := s[x]
		if !ok || up == x {
			return x
		}
		if next, ok := s[up]; ok {
			s[x] = next
		}
		x = up
	}
}

// join merges the sets of x and y.
func (s sets) join(x, y string) {
	x, y = s.find(x), s.find(y)
	if x == y {
		return
	}
	s[max(x, y)] = min(x, y)
}
