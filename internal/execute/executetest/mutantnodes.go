package executetest

import (
	"context"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

// freedInUse is the harm of who believes that nothing is in use.
const freedInUse = `was freed, and|about to hold|uses it`

var frozen = []string{"frozen-add", "frozen-count", "force-deleted"}

// nodeMutants verify less than they must.
var nodeMutants = map[string]mutant{
	"silence-is-no": {nodes: asking(heard), faults: frozen, harm: freedInUse},
	"half-is-whole": {nodes: asking(func(w *model.Verification, err error) error { w.Complete, w.Missing = true, nil; return err }), faults: frozen, harm: freedInUse},
	"calls-unseen":  {nodes: asking(func(w *model.Verification, err error) error { w.Calls = nil; return err }), faults: frozen, harm: freedInUse},
	"sandboxes-unseen": {nodes: asking(func(w *model.Verification, err error) error {
		w.Sandboxes, w.Attachments, w.Results = nil, nil, nil
		return err
	}), faults: frozen, harm: freedInUse},
	// What a node says of everything would do instead of its names.
	"names-unseen":      {nodes: func(n execute.Nodes) execute.Nodes { return asking(rollEmpty)(properName{n}) }, faults: []string{"stale-nodename"}, harm: freedInUse},
	"published-blindly": {nodes: func(n execute.Nodes) execute.Nodes { return ownName{n} }, faults: []string{"stale-nodename"}, harm: freedInUse},
	"fewer-nodes":       {nodes: func(n execute.Nodes) execute.Nodes { return fewer{n} }, faults: []string{"stale-nodename", "frozen-add", "frozen-count"}, harm: freedInUse},
	"own-stacks-unseen": {sees: noStacks, nodes: asking(kernelOnly), faults: []string{"shared", "force-deleted"}, harm: freedInUse},
	"rolls-empty":       {nodes: asking(rollEmpty), faults: []string{"frozen-count", "orphan-handle", "force-deleted", "stale-nodename"}, harm: freedInUse},
}

// asking changes each answer.
func asking(edit func(w *model.Verification, err error) error) func(execute.Nodes) execute.Nodes {
	return func(n execute.Nodes) execute.Nodes { return editing{n, edit} }
}

type editing struct {
	execute.Nodes
	edit func(w *model.Verification, err error) error
}

func (e editing) Ask(ctx context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error) {
	w, err := e.Nodes.Ask(ctx, node, ips, containers)
	if err != nil {
		w.Node, w.All = node, len(ips)+len(containers) == 0
	}
	return w, e.edit(&w, err)
}

// heard takes no answer for one.
func heard(w *model.Verification, err error) error {
	if err != nil {
		w.Complete, w.CalicoName, w.ConfigName = true, w.Node, w.Node
	}
	return nil
}

// ownName takes it for granted that a silent node is called by its name.
type ownName struct{ execute.Nodes }

func (ownName) Published(_ context.Context, node string) ([]string, bool) {
	return []string{node}, true
}

// fewer knows every other node only.
type fewer struct{ execute.Nodes }

func (f fewer) Names(ctx context.Context) ([]string, error) {
	all, err := f.Nodes.Names(ctx)
	return all[:(len(all)+1)/2], err
}

// rollEmpty drops what a node says of everything.
func rollEmpty(w *model.Verification, err error) error {
	if w.All {
		w.Sandboxes, w.Attachments, w.Calls, w.Results = nil, nil, nil, nil
	}
	return err
}

// noStacks takes what the kernel shows of a sandbox for all that it uses.
func noStacks(s *model.Snapshot) {
	for _, f := range s.NodeState {
		f.CNIResults = nil
		for i := range f.Sandboxes {
			f.Sandboxes[i].Handler = ""
		}
	}
}

// kernelOnly believes what the kernel shows, and takes a sandbox without an address for an idle one.
func kernelOnly(w *model.Verification, err error) error {
	w.Results = nil
	w.Sandboxes = slices.DeleteFunc(w.Sandboxes, func(s model.Sandbox) bool { return s.Handler != "" })
	w.Attachments = slices.DeleteFunc(w.Attachments, func(a model.Attachment) bool { return len(a.IPs) == 0 })
	return err
}
