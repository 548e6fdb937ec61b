package change

import (
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// A PodIs is a condition on the pod of a name. It holds if there is no such pod or it has
// finished. Else the pod must not have an address of Not in status or annotation, must not
// have UID if that is set, and must not exist if neither is set.
type PodIs struct {
	Namespace string `json:"namespace"`     // of the pod
	Name      string `json:"name"`          // of the pod
	UID       string `json:"uid,omitempty"` // that the pod must not have
	// Not are addresses that a pod of that name must not have.
	Not []netip.Addr `json:"not,omitempty"`
}

// Against gives why the pod as read now contradicts the condition; empty if it does not.
func (g *PodIs) Against(o model.Object) string {
	p, err := ReadPod(o)
	name := g.Namespace + "/" + g.Name
	switch {
	case err != nil:
		return err.Error()
	case !o.There() || p.Finished():
		return ""
	case len(Claims(&p, g.Not)) > 0:
		return fmt.Sprintf("%s has %s in its status or annotation", name, Claims(&p, g.Not)[0])
	case g.UID != "" && o.UID == g.UID:
		return name + " exists with the same UID"
	case g.UID == "" && len(g.Not) == 0:
		return name + " exists"
	default:
		return ""
	}
}
