package planner

import (
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// unresponsiveMount finds a hung mount by name (node and source), and by the UID of a pod
// that uses it if uid is set. Several file systems may have one name: nil if it is not known
// which one is meant.
func (b *builder) unresponsiveMount(name, uid string) *model.Mount {
	var found *model.Mount
	for i := range int32(b.view.Rows(model.Mounts)) {
		m := b.view.Mount(i)
		if m.Ref().Name != name || !m.Silent || uid != "" && !slices.Contains(m.Pods, uid) {
			continue
		}
		if found != nil && found.Device != m.Device {
			return nil
		}
		found = m
	}
	return found
}

// abortMount aborts the connection of a FUSE file system. That ends all its mounts in all
// namespaces, so the step names every pod that uses it; the agent refuses if it finds a pod
// that is not named.
func (b *builder) abortMount(f *finding.Finding, m *model.Mount) *repair.Refusal {
	if !strings.HasPrefix(m.Type, "fuse") || m.Device == "" {
		return &repair.Refusal{Why: "a " + m.Type + " mount cannot be aborted safely", Advice: "bring its server " + m.Server + " back"}
	}
	if m.Layer != "" {
		return &repair.Refusal{Why: m.Layer + " is on it: an abort would destroy it for good", Advice: "bring its server " + m.Server + " back, or the registry that it reads from"}
	}
	var uids, affected []string
	for i := range int32(b.view.Rows(model.Mounts)) {
		if o := b.view.Mount(i); o.Node == m.Node && o.Device == m.Device {
			for _, uid := range o.Pods {
				if !slices.Contains(uids, uid) {
					uids = append(uids, uid)
				}
			}
		}
	}
	for _, uid := range uids {
		pod := b.view.PodByUID(uid)
		switch {
		case pod == nil:
		case pod.Deleted.IsZero():
			affected = append(affected, pod.Namespace+"/"+pod.Name+" loses the volume "+m.Source)
		default:
			affected = append(affected, pod.Namespace+"/"+pod.Name+", which is being deleted, loses the volume "+m.Source)
		}
	}
	slices.Sort(uids)
	slices.Sort(affected)
	risk := change.Disruptive
	if slices.ContainsFunc(affected, func(s string) bool { return !strings.Contains(s, "being deleted") }) {
		risk = change.Destructive
	}
	if !m.Known {
		risk = change.Destructive
	}
	t := b.target(f, risk, change.Proof{})
	if !m.Known {
		t.Warnings = append(t.Warnings, "it is not known who else uses "+m.Source+": processes of the host, and virtual machines, may")
	}
	t.Touches, t.NoUndo = affected, "an aborted connection cannot be restored: pods that need the volume must mount it again"
	if m.Server != "" {
		t.Warnings = append(t.Warnings, "its server "+m.Server+" is not changed")
	}
	args := map[string]string{"device": m.Device, "pods": strings.Join(uids, ",")}
	if b.o.Settle > 0 { // the user passed --settle
		args["seen"] = strconv.Itoa(int(b.o.Settle.Seconds()))
	}
	b.step(actOnNodes, f, "abort connection", m.Ref(), &change.OnNode{Verb: "abort", Args: args})
	return nil
}
