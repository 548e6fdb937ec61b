package planner

import (
	"fmt"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planOrphan removes the sandbox that is left of a deleted pod. Processes and mounts that
// are left go with their sandbox or owner.
func planOrphan(b *builder, f *finding.Finding) *repair.Refusal {
	node := f.Subject.OnNode()
	_, name, _ := strings.Cut(f.Subject.Name, "/")
	if f.Subject.Kind != model.KindSandbox {
		return &repair.Refusal{Why: "it is released together with its sandbox, its process or its owner", Advice: advice(f.Code)}
	}
	return b.removeSandbox(f, node, name)
}

const staticUID = 32 // length of a static pod's UID: a manifest hash without dashes

// removeSandbox plans that the runtime stops and removes a sandbox whose pod is deleted.
// That runs its CNI DEL. It refuses sandboxes of static pods: the kubelet manages those.
func (b *builder) removeSandbox(f *finding.Finding, node, name string) *repair.Refusal {
	var sandbox *model.Sandbox
	for i := range int32(b.view.Rows(model.Sandboxes)) {
		if s := b.view.Sandbox(i); s.Node == node && s.Ref() == f.Subject {
			sandbox = s
		}
	}
	switch {
	case sandbox == nil:
		return &repair.Refusal{Why: "sandbox " + shortID(name) + " is gone", Advice: "run plumbline check again"}
	case len(strings.ReplaceAll(sandbox.UID, "-", "")) != staticUID || len(sandbox.UID) == staticUID:
		return &repair.Refusal{Why: "the sandbox belongs to a static pod, or to no Kubernetes pod", Advice: "check the static pod manifests on " + node}
	case b.view.PodByUID(sandbox.UID) != nil:
		return &repair.Refusal{Why: "its pod exists", Advice: "run plumbline check again"}
	case b.view.PodByName(sandbox.Namespace, sandbox.Pod) != nil:
		return &repair.Refusal{Why: "a new pod has its name, and the DEL of the old sandbox may affect it", Advice: "plan again when no pod of that name exists"}
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
