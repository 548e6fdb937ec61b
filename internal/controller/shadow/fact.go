package shadow

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A fact is what a decision would have removed.
type fact struct {
	ip     netip.Addr // zero: the handle itself
	handle string
	node   string // that the address is recorded for
}

// factOf gives what a repair of the finding would remove; ok is false if it would do something else.
func factOf(v *model.View, f *finding.Finding) (is fact, ok bool) {
	switch f.Code {
	case finding.PL1001:
		ip, err := netip.ParseAddr(f.Subject.Name)
		if err != nil {
			return is, false
		}
		a := v.AllocationOf(ip)
		if a == nil {
			return is, false
		}
		at := v.AttributeOf(a)
		if at == nil || model.ContainerOf(at.Handle) == "" { // it names no container: whose it was is not known
			return is, false
		}
		return fact{ip: ip, handle: at.Handle, node: at.Node}, true
	case finding.PL1006:
		id := f.Subject.Name
		for range v.AllocationsBy(id) {
			return is, false // its counts are wrong: that removes nothing
		}
		return fact{handle: id}, model.ContainerOf(id) != "" && handleExists(v, id)
	default:
		return is, false
	}
}

// A verdict is what a decision's outcome seems to be.
type verdict string

// The verdicts.
const (
	waits    verdict = ""         // it is as it was
	unread   verdict = "unread"   // not known now
	removed  verdict = "removed"  // by somebody else
	used     verdict = "used"     // it is there, and nothing is wrong with it
	stillUse verdict = "stillUse" // it was removed, and is in use all the same
)

func (v verdict) scored() bool { return v == removed || v == used || v == stillUse }

// why says it to people.
func (v verdict) why(c finding.Code) string {
	what := map[finding.Code]string{finding.PL1001: "the address", finding.PL1006: "the handle"}[c]
	switch v {
	case removed:
		return "somebody else removed " + what + " from Calico's records, and nobody uses it"
	case used:
		return what + " is as it was, and in use"
	case stillUse:
		return "somebody else removed " + what + ", and it is in use"
	default:
		return ""
	}
}

// became tells what a fact has become. There: the finding is still reported, in whatever state.
func (is fact) became(r *audit.Report, code finding.Code, there bool) verdict {
	if !is.judged(r, code) {
		return unread
	}
	exists := handleExists(r.View, is.handle)
	if is.ip.IsValid() {
		exists = false
		for a := range r.View.AllocationsOf(is.ip) {
			if at := r.View.AttributeOf(a); at != nil && at.Handle == is.handle {
				exists = true
			}
		}
	}
	switch {
	case exists && (there || !is.taken(r)): // what is only not reported any more may be so for many reasons
		return waits
	case exists:
		return used
	case is.ip.IsValid() && !allocated(r.View, is.ip) && inUse(r.View, is.ip):
		return stillUse
	default:
		return removed
	}
}

func handleExists(v *model.View, id string) bool {
	for h := range v.HandlesOf(id) {
		if !h.Missing {
			return true
		}
	}
	return false
}

// taken proves that what would have been removed is in use.
func (is fact) taken(r *audit.Report) bool {
	if is.ip.IsValid() {
		return inUse(r.View, is.ip)
	}
	for range r.View.AllocationsBy(is.handle) {
		return true
	}
	return false
}

// inUse: a pod, a sandbox, a node or a service has the address. An endpoint alone is a record as the block is.
func inUse(v *model.View, ip netip.Addr) bool {
	for c := range v.Claims(ip) {
		if c.By != model.ByEndpoint {
			return true
		}
	}
	return false
}

func allocated(v *model.View, ip netip.Addr) bool {
	for range v.AllocationsOf(ip) {
		return true
	}
	return false
}

// judged tells that everything was read that a finding depends on: then its absence means something.
func (is fact) judged(r *audit.Report, code finding.Code) bool {
	if slices.ContainsFunc(r.Skipped, func(s detect.Skip) bool {
		return (s.Code == code || s.Code == finding.PL1002) && (len(s.Nodes) == 0 || slices.ContainsFunc(s.Nodes, is.on(r.View)))
	}) {
		return false
	}
	of := func(d *detect.Detector, t model.Table) bool {
		return slices.Contains(d.Needs, t) || slices.Contains(d.Uses, t)
	}
	return !slices.ContainsFunc(r.Gaps, func(c model.Coverage) bool {
		return (c.Node == "" || is.on(r.View)(c.Node)) && (of(detect.ByCode(code), c.Table) || of(detect.PL1002, c.Table))
	})
}

// on tells that a node of Kubernetes is the one that the address is recorded for: Calico may call it otherwise.
func (is fact) on(v *model.View) func(node string) bool {
	return func(node string) bool { return is.node != "" && v.SameNode(is.node, node) }
}
