package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planStuck ends the hung mount that keeps a pod from being deleted.
func planStuck(b *builder, f *finding.Finding) *Refusal {
	for _, r := range f.About {
		if r.Kind != model.KindMount {
			continue
		}
		ns, name, _ := strings.Cut(f.Subject.Name, "/")
		if pod := b.view.PodByName(ns, name); pod != nil {
			if m := b.unresponsiveMount(r.Name, pod.UID); m != nil {
				return b.abortMount(f, m)
			}
		}
	}
	return &Refusal{Why: "nothing that blocks the pod's deletion can be ended safely", Advice: advice(f.Code)}
}

// planMount ends a hung mount. Only FUSE has a way to do that without effect on the kernel
// and on other mounts: abort the connection.
func planMount(b *builder, f *finding.Finding) *Refusal {
	m := b.unresponsiveMount(f.Subject.Name, "")
	if m == nil {
		return &Refusal{Why: "the mount is gone, or answers, or several mounts of that name hang", Advice: "run plumbline check again; plan PL4001 of a pod that it blocks"}
	}
	return b.abortMount(f, m)
}

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
func (b *builder) abortMount(f *finding.Finding, m *model.Mount) *Refusal {
	if !strings.HasPrefix(m.Type, "fuse") || m.Device == "" {
		return &Refusal{Why: "a " + m.Type + " mount cannot be aborted safely", Advice: "bring its server " + m.Server + " back; or, if no pod needs the mount, run umount -f on the node"}
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
	t := b.target(f, risk, change.Proof{})
	t.Touches, t.NoUndo = affected, "an aborted connection cannot be restored: pods that need the volume must mount it again"
	if m.Server != "" {
		t.Warnings = append(t.Warnings, "its server "+m.Server+" is not changed")
	}
	args := map[string]string{"device": m.Device, "pods": strings.Join(uids, ",")}
	b.step(actOnNodes, f, "abort connection", m.Ref(), &change.OnNode{Verb: "abort", Args: args})
	return nil
}

// planUnkillable ends the mount that a process waits for, not the process.
func planUnkillable(b *builder, f *finding.Finding) *Refusal {
	for _, r := range f.About {
		if m := b.unresponsiveMount(r.Name, ""); r.Kind == model.KindMount && m != nil {
			return b.abortMount(f, m)
		}
	}
	return &Refusal{Why: "an unkillable process exits only when its wait ends, and no mount to abort was found", Advice: advice(f.Code)}
}

// planOrphan removes the sandbox that is left of a deleted pod. Processes and mounts that
// are left go with their sandbox or owner.
func planOrphan(b *builder, f *finding.Finding) *Refusal {
	node := f.Subject.OnNode()
	_, name, _ := strings.Cut(f.Subject.Name, "/")
	if f.Subject.Kind != model.KindSandbox {
		return &Refusal{Why: "it is released together with its sandbox, its process or its owner", Advice: advice(f.Code)}
	}
	return b.removeSandbox(f, node, name)
}

const staticUID = 32 // length of a static pod's UID: a manifest hash without dashes

// removeSandbox plans that the runtime stops and removes a sandbox whose pod is deleted.
// That runs its CNI DEL. It refuses sandboxes of static pods: the kubelet manages those.
func (b *builder) removeSandbox(f *finding.Finding, node, name string) *Refusal {
	var sandbox *model.Sandbox
	for i := range int32(b.view.Rows(model.Sandboxes)) {
		if s := b.view.Sandbox(i); s.Node == node && s.Ref() == f.Subject {
			sandbox = s
		}
	}
	switch {
	case sandbox == nil:
		return &Refusal{Why: "sandbox " + shortID(name) + " is gone", Advice: "run plumbline check again"}
	case len(strings.ReplaceAll(sandbox.UID, "-", "")) != staticUID || len(sandbox.UID) == staticUID:
		return &Refusal{Why: "the sandbox belongs to a static pod, or to no Kubernetes pod", Advice: "check the static pod manifests on " + node}
	case b.view.PodByUID(sandbox.UID) != nil:
		return &Refusal{Why: "its pod exists", Advice: "run plumbline check again"}
	case b.view.PodByName(sandbox.Namespace, sandbox.Pod) != nil:
		return &Refusal{Why: "a new pod has its name, and the DEL of the old sandbox may affect it", Advice: "remove the sandbox with crictl on " + node + " when the new pod may lose its network"}
	}
	var running []string
	for c := range b.view.ContainersIn(node, sandbox.ID) {
		if c.State == "running" {
			running = append(running, c.ID)
		}
	}
	t := b.target(f, change.Destructive, change.Proof{NotInUse: &change.NotInUse{Gone: []change.PodIs{{Namespace: sandbox.Namespace, Name: sandbox.Pod, UID: sandbox.UID}}}})
	t.NoUndo = "a removed sandbox cannot be restored"
	t.Touches = []string{fmt.Sprintf("%s of %s/%s on %s exit", plural(len(running), "container", "containers"), sandbox.Namespace, sandbox.Pod, node)}
	args := map[string]string{"uid": sandbox.UID, "containers": strings.Join(running, ",")}
	b.step(actOnNodes, f, "remove sandbox", model.Ref{Kind: model.KindSandbox, Name: node + "/" + sandbox.ID}, &change.OnNode{Verb: "remove", Args: args})
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
