package detect

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A hold is what keeps a pod from ending, as far down as its node lets us see: the
// container that still runs, the process that cannot end, the mount that it waits for.
type hold struct {
	container *model.Container
	process   *model.Process
	mount     *model.Mount
	others    []*model.Pod // who else uses the mount
}

func holdOf(p *Pass, pod *model.Pod) hold {
	var h hold
	uids := identities(pod)
	h.process = holder(p, pod, uids)
	if h.process != nil {
		h.container = runningSandbox(p.ContainerNamed(pod.Node, h.process.Container))
	}
	for s := range p.SandboxesOf(pod.Namespace, pod.Name) {
		if s.Node != pod.Node || !slices.Contains(uids, s.UID) {
			continue
		}
		for c := range p.ContainersIn(s.Node, s.ID) {
			if h.container == nil {
				h.container = runningSandbox(c)
			}
		}
	}
	if h.process != nil {
		if _, stuck := hangs(h.process); !stuck {
			return h // it waits for nothing: that a mount of its pod is silent is another matter
		}
	}
	h.mount = silentMount(p, pod, uids, h.process)
	if h.mount != nil {
		h.others, _ = usersOf(p, h.mount)
		h.others = slices.DeleteFunc(h.others, func(o *model.Pod) bool { return o.Ref() == pod.Ref() })
	}
	return h
}

func runningSandbox(c *model.Container) *model.Container {
	if c == nil || c.State != "running" && c.State != "unknown" {
		return nil
	}
	return c
}

// holder gives the pod's process that holds it: rather one that hangs than one that is
// left of it.
func holder(p *Pass, pod *model.Pod, uids []string) *model.Process {
	var found *model.Process
	look := func(pr *model.Process) {
		if !cannotEnd(pr) {
			return
		}
		if _, stuck := hangs(pr); found == nil || stuck && !hung(found) {
			found = pr
		}
	}
	for _, uid := range uids {
		for pr := range p.ProcessesOf(pod.Node, uid) {
			look(pr)
		}
	}
	for s := range p.SandboxesOf(pod.Namespace, pod.Name) {
		if s.Node != pod.Node || !slices.Contains(uids, s.UID) {
			continue
		}
		for c := range p.ContainersIn(s.Node, s.ID) {
			for pr := range p.ProcessesIn(c.Node, c.ID) {
				look(pr)
			}
		}
	}
	return found
}

func hung(pr *model.Process) bool {
	_, stuck := hangs(pr)
	return stuck
}

// silentMount gives the mount that the pod waits for. If several are silent, it is rather
// one of the kind that the thread waits in. Where its files are open does not tell: those
// paths are the container's own.
func silentMount(p *Pass, pod *model.Pod, uids []string, pr *model.Process) *model.Mount {
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

// waitsFor tells that the kernel function is one of the mount's kind of file system.
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

// facts are the chain, from the container down.
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
