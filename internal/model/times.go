package model

import "time"

// Shift adds d to every Since that is set: it converts the node's clock to the API server's.
func (f *NodeState) Shift(d time.Duration) {
	move := func(t *Time) {
		if !t.IsZero() {
			*t = t.Add(d)
		}
	}
	shift(f.Links, func(r *Link) { move(&r.Since) })
	shift(f.Routes, func(r *Route) { move(&r.Since) })
	shift(f.Rules, func(r *Rule) { move(&r.Since) })
	shift(f.Paths, func(r *Path) { move(&r.Since) })
	shift(f.Neighbours, func(r *Neighbour) { move(&r.Since) })
	shift(f.Attachments, func(r *Attachment) { move(&r.Since) })
	shift(f.Sysctls, func(r *Sysctl) { move(&r.Since) })
	shift(f.Firewall, func(r *Chain) { move(&r.Since) })
	shift(f.Sandboxes, func(r *Sandbox) { move(&r.Since) })
	shift(f.Containers, func(r *Container) { move(&r.Since) })
	shift(f.CNIConfigs, func(r *CNIConfig) { move(&r.Since) })
	shift(f.CNIResults, func(r *CNIResult) { move(&r.Since) })
	shift(f.Processes, func(r *Process) { move(&r.Since) })
	shift(f.Mounts, func(r *Mount) { move(&r.Since) })
	shift(f.Runtimes, func(r *Runtime) { move(&r.Since) })
	shift(f.FailedDels, func(r *FailedDel) { move(&r.Since) })
	shift(f.Proxies, func(r *Proxy) { move(&r.Since) })
	shift(f.HostLocal, func(r *Reserved) { move(&r.Since) })
	shift(f.Guards, func(r *Guard) { move(&r.Since) })
	shift(f.Machines, func(r *Machine) { move(&r.Since) })
}

func shift[T any](rows []T, move func(*T)) {
	for i := range rows {
		move(&rows[i])
	}
}
