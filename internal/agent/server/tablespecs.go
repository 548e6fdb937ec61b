package server

import (
	"fmt"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/model"
)

// slow is the duration in milliseconds from which a runtime call counts as slow.
const slow = 2000

// tableSpecs returns an empty cache for every table of a node: what identifies its rows,
// and which fields change by themselves and are not a change.
func tableSpecs() map[model.Table]tableCache {
	return map[model.Table]tableCache{
		model.Links: &rows[model.Link]{
			table: model.Links, of: func(f *model.NodeState) *[]model.Link { return &f.Links },
			key: func(r *model.Link) string { return strconv.Itoa(r.Index) }, since: func(r *model.Link) *model.Time { return &r.Since },
			writer: ofAddresses,
		},
		model.Routes: &rows[model.Route]{
			table: model.Routes, of: func(f *model.NodeState) *[]model.Route { return &f.Routes },
			key: (*model.Route).Key, since: func(r *model.Route) *model.Time { return &r.Since },
			writer: ofRoute, way: (*model.Route).IsWay, link: func(r *model.Route) int { return r.Link },
		},
		model.Rules: &rows[model.Rule]{
			table: model.Rules, of: func(f *model.NodeState) *[]model.Rule { return &f.Rules },
			key: func(r *model.Rule) string {
				return fmt.Sprintf("%d %d %s %s %t", r.Priority, r.Table, r.Src, r.Dst, r.IPv6)
			},
			since: func(r *model.Rule) *model.Time { return &r.Since },
		},
		model.Paths: &rows[model.Path]{
			table: model.Paths, of: func(f *model.NodeState) *[]model.Path { return &f.Paths },
			key: func(r *model.Path) string { return r.IP.String() }, since: func(r *model.Path) *model.Time { return &r.Since },
		},
		model.Neighbours: &rows[model.Neighbour]{
			table: model.Neighbours, of: func(f *model.NodeState) *[]model.Neighbour { return &f.Neighbours },
			key: (*model.Neighbour).Key, since: func(r *model.Neighbour) *model.Time { return &r.Since }, plain: plainNeighbour,
			writer: ofNeighbour, way: (*model.Neighbour).IsWay, link: func(r *model.Neighbour) int { return r.Link },
		},
		model.Attachments: &rows[model.Attachment]{
			table: model.Attachments, of: func(f *model.NodeState) *[]model.Attachment { return &f.Attachments },
			key:   func(r *model.Attachment) string { return fmt.Sprintf("%d %d", r.Inode, r.Index) },
			since: func(r *model.Attachment) *model.Time { return &r.Since }, plain: plainAttachment,
		},
		model.Sysctls: &rows[model.Sysctl]{
			table: model.Sysctls, of: func(f *model.NodeState) *[]model.Sysctl { return &f.Sysctls },
			key:   func(r *model.Sysctl) string { return fmt.Sprintf("%s %s %t", r.Device, r.Key, r.IPv6) },
			since: func(r *model.Sysctl) *model.Time { return &r.Since },
		},
		model.Firewall: &rows[model.Chain]{
			table: model.Firewall, of: func(f *model.NodeState) *[]model.Chain { return &f.Firewall },
			key:   func(r *model.Chain) string { return fmt.Sprintf("%s %s %s %t", r.Family, r.Table, r.Name, r.Legacy) },
			since: func(r *model.Chain) *model.Time { return &r.Since },
		},
		model.Sandboxes: &rows[model.Sandbox]{
			table: model.Sandboxes, of: func(f *model.NodeState) *[]model.Sandbox { return &f.Sandboxes },
			key: func(r *model.Sandbox) string { return r.ID }, since: func(r *model.Sandbox) *model.Time { return &r.Since },
		},
		model.Containers: &rows[model.Container]{
			table: model.Containers, of: func(f *model.NodeState) *[]model.Container { return &f.Containers },
			key: func(r *model.Container) string { return r.ID }, since: func(r *model.Container) *model.Time { return &r.Since },
		},
		model.CNIConfigs: &rows[model.CNIConfig]{
			table: model.CNIConfigs, of: func(f *model.NodeState) *[]model.CNIConfig { return &f.CNIConfigs },
			key: func(r *model.CNIConfig) string { return r.File }, since: func(r *model.CNIConfig) *model.Time { return &r.Since },
			plain: func(r model.CNIConfig) model.CNIConfig {
				r.Issued, r.Expires = 0, 0 // calico-node renews the token every few hours
				return r
			},
		},
		model.CNIResults: &rows[model.CNIResult]{
			table: model.CNIResults, of: func(f *model.NodeState) *[]model.CNIResult { return &f.CNIResults },
			key:   func(r *model.CNIResult) string { return r.Network + " " + r.Container + " " + r.Interface },
			since: func(r *model.CNIResult) *model.Time { return &r.Since },
		},
		model.Processes: &rows[model.Process]{
			table: model.Processes, of: func(f *model.NodeState) *[]model.Process { return &f.Processes },
			key: func(r *model.Process) string { return strconv.Itoa(r.PID) + " " + r.Why }, since: func(r *model.Process) *model.Time { return &r.Since }, plain: plainProcess,
		},
		model.Mounts: &rows[model.Mount]{
			table: model.Mounts, of: func(f *model.NodeState) *[]model.Mount { return &f.Mounts },
			key: func(r *model.Mount) string { return r.Device + " " + r.Target + " " + r.Dead }, since: func(r *model.Mount) *model.Time { return &r.Since }, plain: plainMount,
		},
		model.Runtimes: &rows[model.Runtime]{
			table: model.Runtimes, of: func(f *model.NodeState) *[]model.Runtime { return &f.Runtimes },
			key: func(r *model.Runtime) string { return r.Call }, since: func(r *model.Runtime) *model.Time { return &r.Since }, plain: plainRuntime,
		},
		model.FailedDels: &rows[model.FailedDel]{
			table: model.FailedDels, of: func(f *model.NodeState) *[]model.FailedDel { return &f.FailedDels },
			key: func(r *model.FailedDel) string { return r.Sandbox }, since: func(r *model.FailedDel) *model.Time { return &r.Since }, plain: plainFailedDel,
		},
		model.Proxies: &rows[model.Proxy]{
			table: model.Proxies, of: func(f *model.NodeState) *[]model.Proxy { return &f.Proxies },
			key: func(*model.Proxy) string { return "kube-proxy" }, since: func(r *model.Proxy) *model.Time { return &r.Since },
		},
		model.HostLocal: &rows[model.Reserved]{
			table: model.HostLocal, of: func(f *model.NodeState) *[]model.Reserved { return &f.HostLocal },
			key: func(r *model.Reserved) string { return r.Network + " " + r.IP.String() }, since: func(r *model.Reserved) *model.Time { return &r.Since },
		},
		model.Guards: &rows[model.Guard]{
			table: model.Guards, of: func(f *model.NodeState) *[]model.Guard { return &f.Guards },
			key: func(*model.Guard) string { return "guard" }, since: func(r *model.Guard) *model.Time { return &r.Since },
		},
		model.Machines: &rows[model.Machine]{
			table: model.Machines, of: func(f *model.NodeState) *[]model.Machine { return &f.Machines },
			key: func(*model.Machine) string { return "machine" }, since: func(r *model.Machine) *model.Time { return &r.Since }, plain: plainMachine,
		},
	}
}

// State changes of a neighbour entry in use are not a change of the entry.
func plainNeighbour(r model.Neighbour) model.Neighbour {
	r.State, r.Asked = settled(r.State), 0
	return r
}

func settled(state string) string {
	switch state {
	case "REACHABLE", "STALE", "DELAY", "PROBE":
		return "dynamic"
	case "INCOMPLETE", "FAILED":
		return "FAILED"
	default:
		return state
	}
}

func plainAttachment(r model.Attachment) model.Attachment {
	r.PIDs = min(r.PIDs, 1)
	// Learned entries come and go with traffic.
	r.Neighbours = slices.DeleteFunc(slices.Clone(r.Neighbours), func(n model.Neighbour) bool { return settled(n.State) == "dynamic" })
	for i := range r.Neighbours {
		r.Neighbours[i] = plainNeighbour(r.Neighbours[i])
	}
	return r
}

func plainProcess(r model.Process) model.Process {
	r.Files = nil
	if r.Why == "felix" || r.Why == "cni" { // running: what they wait for changes all the time
		r.State, r.Waits, r.Threads = "", "", nil
	}
	return r
}

func plainMount(r model.Mount) model.Mount {
	r.Asked, r.Pods, r.HeldBy, r.Known, r.Layer, r.Waits = "", nil, nil, false, "", 0
	return r
}

func plainRuntime(r model.Runtime) model.Runtime {
	r.Millis = r.Millis / slow * slow
	if r.Error != "" {
		r.Error, r.Millis = "silent", 0
	}
	if r.Millis > 0 {
		r.Millis = slow
	}
	return r
}

// plainFailedDel tells the first attempt from the others, and no more.
func plainFailedDel(r model.FailedDel) model.FailedDel {
	r.Tries, r.Span, r.Ago, r.Error = 0, 0, 0, ""
	return r
}

func plainMachine(r model.Machine) model.Machine {
	r.Uptime, r.Revision = 0, 0
	return r
}
