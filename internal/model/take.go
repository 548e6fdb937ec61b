package model

// Take replaces the named tables by those of g.
func (f *NodeState) Take(g *NodeState, tables ...Table) {
	for _, t := range tables {
		switch t {
		case Links:
			f.Links = g.Links
		case Routes:
			f.Routes = g.Routes
		case Rules:
			f.Rules = g.Rules
		case Paths:
			f.Paths = g.Paths
		case Neighbours:
			f.Neighbours = g.Neighbours
		case Attachments:
			f.Attachments = g.Attachments
		case Sysctls:
			f.Sysctls = g.Sysctls
		case Firewall:
			f.Firewall = g.Firewall
		case Sandboxes:
			f.Sandboxes = g.Sandboxes
		case Containers:
			f.Containers = g.Containers
		case CNIConfigs:
			f.CNIConfigs = g.CNIConfigs
		case CNIResults:
			f.CNIResults = g.CNIResults
		case Processes:
			f.Processes = g.Processes
		case Mounts:
			f.Mounts = g.Mounts
		case Runtimes:
			f.Runtimes = g.Runtimes
		case FailedDels:
			f.FailedDels = g.FailedDels
		case Proxies:
			f.Proxies = g.Proxies
		case HostLocal:
			f.HostLocal = g.HostLocal
		case Guards:
			f.Guards = g.Guards
		case Machines:
			f.Machines = g.Machines
		default:
		}
	}
}
