package model

// NodeOf is the node of a subject; empty if it has none, or several.
func (v *View) NodeOf(t Table, i int32) string {
	switch t {
	case Pods:
		return v.s.Pods[i].Node
	case Nodes:
		return v.s.Nodes[i].Name
	case Events:
		return v.s.Events[i].Node
	case Links:
		return v.nodeIndex.links[i].Node
	case Attachments:
		return v.nodeIndex.attachments[i].Node
	case Sandboxes:
		return v.nodeIndex.sandboxes[i].Node
	case Containers:
		return v.nodeIndex.containers[i].Node
	case Processes:
		return v.nodeIndex.processes[i].Node
	case Mounts:
		return v.nodeIndex.mounts[i].Node
	case FailedDels:
		return v.nodeIndex.failedDels[i].Node
	default:
		return ""
	}
}

// nodeSubjects returns the number of subjects of a node table, over all nodes, and their refs.
func (v *View) nodeSubjects(t Table) (int, func(int32) Ref) {
	switch t {
	case Links:
		return refs(v.nodeIndex.links, (*Link).Ref)
	case Attachments:
		return refs(v.nodeIndex.attachments, (*Attachment).Ref)
	case Sandboxes:
		return refs(v.nodeIndex.sandboxes, (*Sandbox).Ref)
	case Containers:
		return refs(v.nodeIndex.containers, (*Container).Ref)
	case Processes:
		return refs(v.nodeIndex.processes, (*Process).Ref)
	case Mounts:
		return refs(v.nodeIndex.mounts, (*Mount).Ref)
	case FailedDels:
		return refs(v.nodeIndex.failedDels, (*FailedDel).Ref)
	default:
		return 0, func(int32) Ref { return Ref{KindCluster, "cluster"} }
	}
}

func refs[T any](rows []*T, ref func(*T) Ref) (int, func(int32) Ref) {
	return len(rows), func(i int32) Ref { return ref(rows[i]) }
}

func (v *View) nodeRows(t Table) int {
	n, _ := v.nodeSubjects(t)
	return n
}

func (v *View) nodeRef(t Table, i int32) Ref {
	_, ref := v.nodeSubjects(t)
	return ref(i)
}

// findOnNode returns the rows of a subject of a node table. It scans the table: only the few
// subjects of a reread are searched this way.
func (v *View) findOnNode(s Subject) []int32 {
	var out []int32
	n, ref := v.nodeSubjects(s.Table)
	for i := range int32(n) {
		if ref(i) == s.Ref {
			out = append(out, i)
		}
	}
	return out
}
