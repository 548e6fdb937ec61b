package parse

import "plumbline.dev/plumbline/internal/timeline/records"

// today finds or opens the call of a line that carries the plugin's own process ID. The IPAM
// plugin is another process than the CNI plugin that calls it: the sandbox joins the two
// processes, and the process joins the lines without a sandbox. A process ID is not taken for
// the same call if processLife has passed, or if the line contradicts the call (sandbox, pod,
// verb, or another main process).
func (c *calls) today(r *records.Record, w caller) *call {
	p := process{r.Node, r.PID}
	k := c.byProcess[p]
	if k != nil && (!k.fresh(r, processLife) || differ(k.sandbox, w.sandbox) || differ(k.pod, w.pod) || k.another(r, w)) {
		k = nil // the process ID was reused
	}
	if k == nil || k.sandbox == "" {
		if s := c.ofSandbox(r, w); s != nil {
			k = s
		}
	}
	if k == nil {
		k = c.open(r, w)
	}
	c.name(k, w)
	c.bind(p, k)
	if w.main {
		k.main = r.PID
	}
	k.last = r.At
	return k
}

// ofSandbox gives the newest call of the line's sandbox if it has not ended and can have written
// the line, else nil.
func (c *calls) ofSandbox(r *records.Record, w caller) *call {
	s := c.bySandbox[w.sandbox]
	if w.sandbox == "" || s == nil || s.ended || !s.fresh(r, processLife) || s.another(r, w) {
		return nil
	}
	return s
}

// another reports whether the line is of another call for the same sandbox: of another verb,
// or of another main process (a retry).
func (k *call) another(r *records.Record, w caller) bool {
	return w.verb != unknown && k.verb != unknown && w.verb != k.verb || w.main && k.main != 0 && k.main != r.PID
}

// differ reports whether both names are known and not the same.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// bind makes the lines of a process belong to a call. Beyond 16 processes of one call the oldest
// is dropped.
func (c *calls) bind(p process, k *call) {
	if c.byProcess[p] == k {
		return
	}
	c.byProcess[p] = k
	if len(k.bound) < 16 {
		k.bound = append(k.bound, p)
	} else {
		delete(c.byProcess, k.bound[0])
		k.bound = append(k.bound[1:], p)
	}
}
