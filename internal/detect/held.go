package detect

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A hold is what keeps a pod from terminating, as far as node state was read: each field is
// nil if there is none.
type hold struct {
	container *model.Container // running, or of unknown state
	process   *model.Process   // cannot end; preferably one that hangs in state D
	mount     *model.Mount     // does not answer; nil if process is not nil and does not hang
	others    []*model.Pod     // other pods that use mount
}

func holdOf(p *Pass, pod *model.Pod) hold {
	var h hold
	uids := identities(pod)
	h.process = holder(p, pod, uids)
	if h.process != nil {
		h.container = mayRun(p.ContainerNamed(pod.Node, h.process.Container))
	}
	for s := range p.SandboxesOf(pod.Namespace, pod.Name) {
		if s.Node != pod.Node || !slices.Contains(uids, s.UID) {
			continue
		}
		for c := range p.ContainersIn(s.Node, s.ID) {
			if h.container == nil {
				h.container = mayRun(c)
			}
		}
	}
	if h.process != nil {
		if _, stuck := hangs(h.process); !stuck {
			return h // the process waits for nothing, so a mount that does not answer is not the reason
		}
	}
	h.mount = hungMount(p, pod, uids, h.process)
	if h.mount != nil {
		h.others, _ = usersOf(p, h.mount)
		h.others = slices.DeleteFunc(h.others, func(o *model.Pod) bool { return o.Ref() == pod.Ref() })
	}
	return h
}

// mayRun returns the container if it is running or of unknown state, else nil.
func mayRun(c *model.Container) *model.Container {
	if c == nil || c.State != "running" && c.State != "unknown" {
		return nil
	}
	return c
}

// holder returns the process that keeps the pod from terminating; one that hangs in state D
// is preferred to a zombie.
func holder(p *Pass, pod *model.Pod, uids []string) *model.Process {
	var found *model.Process
	consider := func(pr *model.Process) {
		if !cannotEnd(pr) {
			return
		}
		if _, stuck := hangs(pr); found == nil || stuck && !hung(found) {
			found = pr
		}
	}
	for _, uid := range uids {
		for pr := range p.ProcessesOf(pod.Node, uid) {
			consider(pr)
		}
	}
	for s := range p.SandboxesOf(pod.Namespace, pod.Name) {
		if s.Node != pod.Node || !slices.Contains(uids, s.UID) {
			continue
		}
		for c := range p.ContainersIn(s.Node, s.ID) {
			for pr := range p.ProcessesIn(c.Node, c.ID) {
				consider(pr)
			}
		}
	}
	return found
}

func hung(pr *model.Process) bool {
	_, stuck := hangs(pr)
	return stuck
}

// hungMount returns the mount that the pod waits for: one that does not answer, preferably
// of the file system type that the thread waits in. The paths of open files are not used:
// they are paths inside the container.
func hungMount(p *Pass, pod *model.Pod, uids []string, pr *model.Process) *model.Mount {
	var found *model.Mount
	for _, uid := range uids {
		for m := range p.MountsOf(pod.Node, uid) {
			if m.Silent && (found == nil || waitsFor(pr, m) && !waitsFor(pr, found)) {
				found = m
			}
		}
	}
	return found
}

// waitsFor reports whether the kernel function that the process waits in belongs to the
// mount's file system type.
func waitsFor(pr *model.Process, m *model.Mount) bool {
	if pr == nil {
		return false
	}
	t, _ := hangs(pr)
	for _, of := range [][2]string{{"request_wait_answer", "fuse"}, {"fuse", "fuse"}, {"rpc", "nfs"}, {"nfs", "nfs"}, {"ceph", "ceph"}, {"cifs", "cifs"}, {"smb", "cifs"}} {
		if strings.Contains(t.Waits, of[0]) && strings.HasPrefix(m.Type, of[1]) {
			return true
		}
	}
	return false
}

// facts are the evidence for the hold: container, process, mount, in this order.
func (h *hold) facts(p *Pass) (out []finding.Evidence, about []model.Ref) {
	if h.container != nil {
		e := containerFact(h.container)
		if p.SandboxNamed(h.container.Node, h.container.Sandbox) == nil && p.Sees(h.container.Node, model.Sandboxes) {
			e.Says += ", its sandbox is gone"
		}
		out, about = append(out, e), append(about, h.container.Ref())
	}
	if h.process != nil {
		out, about = append(out, processFacts(h.process)...), append(about, h.process.Ref())
	}
	if h.mount != nil {
		out, about = append(out, mountFacts(h.mount)...), append(about, h.mount.Ref())
	}
	return out, append(about, podRefs(h.others)...)
}
