package execute

import "plumbline.dev/plumbline/internal/repair"

// Repaired tells that what was wanted is so: we wrote it, or it was so already.
func (v Verdict) Repaired() bool { return v.Outcome == repair.Done || v.Outcome == repair.Already }
