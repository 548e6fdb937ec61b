package model

// Place sets the node of all rows. Sealing a snapshot then writes to none of them.
func (f *NodeState) Place(node string) {
	shift(f.Links, func(r *Link) { r.Node = node })
	shift(f.Routes, func(r *Route) { r.Node = node })
	shift(f.Rules, func(r *Rule) { r.Node = node })
	shift(f.Paths, func(r *Path) { r.Node = node })
	shift(f.Neighbours, func(r *Neighbour) { r.Node = node })
	shift(f.Attachments, func(r *Attachment) { r.Node = node })
	shift(f.Sysctls, func(r *Sysctl) { r.Node = node })
	shift(f.Firewall, func(r *Chain) { r.Node = node })
	shift(f.Sandboxes, func(r *Sandbox) { r.Node = node })
	shift(f.Containers, func(r *Container) { r.Node = node })
	shift(f.CNIConfigs, func(r *CNIConfig) { r.Node = node })
	shift(f.CNIResults, func(r *CNIResult) { r.Node = node })
	shift(f.Processes, func(r *Process) { r.Node = node })
	shift(f.Mounts, func(r *Mount) { r.Node = node })
	shift(f.Runtimes, func(r *Runtime) { r.Node = node })
	shift(f.FailedDels, func(r *FailedDel) { r.Node = node })
	shift(f.Proxies, func(r *Proxy) { r.Node = node })
	shift(f.HostLocal, func(r *Reserved) { r.Node = node })
	shift(f.Guards, func(r *Guard) { r.Node = node })
	shift(f.Machines, func(r *Machine) { r.Node = node })
}
