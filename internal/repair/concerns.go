package repair

import "slices"

// Concerns tells that something of the plan is on a node, or is verified there.
func (p *Plan) Concerns(node string) bool {
	return slices.ContainsFunc(p.Targets, func(t Target) bool {
		return t.Proof.Running != nil && t.Proof.Running.Node == node || t.Proof.NotInUse != nil && slices.Contains(t.Proof.NotInUse.Nodes, node)
	}) || slices.ContainsFunc(p.Steps, func(s Step) bool { return s.On.OnNode() == node })
}
