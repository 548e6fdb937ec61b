package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// planStuck frees a pod that cannot be deleted from the mount that holds it.
func planStuck(b *builder, f *finding.Finding) {
	for _, r := range f.About {
		if r.Kind != model.KindMount {
			continue
		}
		ns, name, _ := strings.Cut(f.Subject.Name, "/")
		if pod := b.view.PodByName(ns, name); pod != nil {
			if m := b.unresponsiveMount(r.Name, pod.UID); m != nil {
				b.abortMount(f, m)
				return
			}
		}
	}
	b.refuse(f, "nothing that holds it can be ended safely", advice(f.Code))
}

// planMount ends what does not answer. Only a FUSE file system has an end of its own, which
// leaves the kernel and all other mounts as they are.
func planMount(b *builder, f *finding.Finding) {
	m := b.unresponsiveMount(f.Subject.Name, "")
	if m == nil {
		b.refuse(f, "the mount is gone, or answers, or several of that name do not", "look again; plan PL4001 of a pod that it holds")
		return
	}
	b.abortMount(f, m)
}

// unresponsiveMount finds a mount that does not answer by its node and what is mounted, and by the
// pod that it holds if one is named. Several file systems may be of one name: nil if it is
// not known which is meant.
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

// abortMount aborts the connection of a FUSE file system. It ends every mount of it, in every
// namespace, so every pod that has it is named; one that was not seen makes the agent refuse.
func (b *builder) abortMount(f *finding.Finding, m *model.Mount) {
	if !strings.HasPrefix(m.Type, "fuse") || m.Device == "" {
		b.refuse(f, "a "+m.Type+" mount has no end of its own", "bring its server "+orText(m.Server, "")+" back; or, when nobody needs it, umount -f on the node")
		return
	}
	var uids, living []string
	for i := range int32(b.view.Rows(model.Mounts)) {
		if o := b.view.Mount(i); o.Node == m.Node && o.Device == m.Device {
			for _, uid := range o.Pods {
				uids = appendNew(uids, uid)
			}
		}
	}
	for _, uid := range uids {
		pod := b.view.PodByUID(uid)
		switch {
		case pod == nil:
		case pod.Deleted.IsZero():
			living = append(living, pod.Namespace+"/"+pod.Name+" loses the volume "+m.Source)
		default:
			living = append(living, pod.Namespace+"/"+pod.Name+", which is being deleted, loses the volume "+m.Source)
		}
	}
	slices.Sort(uids)
	slices.Sort(living)
	risk := Disruptive
	if slices.ContainsFunc(living, func(s string) bool { return !strings.Contains(s, "being deleted") }) {
		risk = Destructive
	}
	t := b.target(f, risk, Proof{})
	t.Touches, t.NoUndo = living, "a connection that was ended is not made again: who needs the volume mounts it anew"
	if m.Server != "" {
		t.Warnings = append(t.Warnings, "its server "+m.Server+" is left alone")
	}
	args := map[string]string{"device": m.Device, "pods": strings.Join(uids, ",")}
	b.step(actOnNodes, f, "abort connection", m.Ref(), Change{Node: &OnNode{Verb: "abort", Args: args}})
}

// planUnkillable: what a process waits for is ended, not the process.
func planUnkillable(b *builder, f *finding.Finding) {
	for _, r := range f.About {
		if m := b.unresponsiveMount(r.Name, ""); r.Kind == model.KindMount && m != nil {
			b.abortMount(f, m)
			return
		}
	}
	b.refuse(f, "a process that cannot be killed ends when what it waits for does", advice(f.Code))
}

// planOrphan takes away the sandbox that is left of a pod that is gone. A mount that others
// keep goes with them.
func planOrphan(b *builder, f *finding.Finding) {
	node := f.Subject.OnNode()
	_, name, _ := strings.Cut(f.Subject.Name, "/")
	if f.Subject.Kind != model.KindSandbox {
		b.refuse(f, "it goes with its sandbox, its process, or who keeps it", advice(f.Code))
		return
	}
	b.removeSandbox(f, node, name)
}

const staticUID = 32 // length of the hash of a manifest

// removeSandbox has the runtime stop and remove a sandbox whose pod is gone. That runs its
// DEL. A static pod's is the kubelet's own.
func (b *builder) removeSandbox(f *finding.Finding, node, name string) {
	var sandbox *model.Sandbox
	for i := range int32(b.view.Rows(model.Sandboxes)) {
		if s := b.view.Sandbox(i); s.Node == node && s.Ref() == f.Subject {
			sandbox = s
		}
	}
	switch {
	case sandbox == nil:
		b.refuse(f, "the sandbox "+short(name)+" is gone", "look again")
		return
	case len(strings.ReplaceAll(sandbox.UID, "-", "")) != staticUID || len(sandbox.UID) == staticUID:
		b.refuse(f, "it is a static pod's, or nobody's that Kubernetes knows", "see the manifests of "+node)
		return
	case b.view.PodByUID(sandbox.UID) != nil:
		b.refuse(f, "its pod is there", "look again")
		return
	case b.view.PodByName(sandbox.Namespace, sandbox.Pod) != nil:
		b.refuse(f, "a new pod has its name, and the DEL of the old may hit it", "end it with crictl on "+node+" when the new one can be spared")
		return
	}
	var running []string
	for c := range b.view.ContainersIn(node, sandbox.ID) {
		if c.State == "running" {
			running = append(running, c.ID)
		}
	}
	t := b.target(f, Destructive, Proof{NotInUse: &NotInUse{Gone: []PodIs{{Namespace: sandbox.Namespace, Name: sandbox.Pod, UID: sandbox.UID}}}})
	t.NoUndo = "a sandbox that was removed does not come back"
	t.Touches = []string{fmt.Sprintf("%s of %s/%s on %s end", plural(len(running), "container", "containers"), sandbox.Namespace, sandbox.Pod, node)}
	args := map[string]string{"uid": sandbox.UID, "containers": strings.Join(running, ",")}
	b.step(actOnNodes, f, "remove sandbox", model.Ref{Kind: model.KindSandbox, Name: node + "/" + sandbox.ID}, Change{Node: &OnNode{Verb: "remove", Args: args}})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
