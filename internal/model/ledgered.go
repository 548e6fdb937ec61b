package model

// Ledgered tells whether any block records a pod's address.
func (v *View) Ledgered() bool {
	for i := range v.s.Blocks {
		for j := range v.s.Blocks[i].Attributes {
			if v.s.Blocks[i].Attributes[j].Pod != "" {
				return true
			}
		}
	}
	return false
}
