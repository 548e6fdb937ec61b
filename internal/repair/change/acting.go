package change

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// An Acting is what a change on a node does to the object as the agent reports it now, and what
// must be verified for that. It is never taken from the plan.
type Acting struct {
	Refused  string       // why it must not be done, whatever the nodes verify; empty if it may
	NotInUse *NotInUse    // what must not exist, and which CNI calls must not run
	Running  *RunningPod  // conditions on the pod that the finding's proof names; its other fields are empty
	Gone     string       // UID of a pod that must not be on the node, under whatever name
	Alone    []netip.Addr // addresses that no other pod may have in its status

	// Of an abort: the pods that lose the file system, by UID. Known means that these are all that
	// can use it.
	Users []string
	Known bool
	Abort bool
}

// A liveObject has the fields of what agents report of the objects that they can change: see
// kernel.HostVeth, HostRoutes, NeighbourEntry and Setting, cri.SandboxStatus, host.Filesystem.
type liveObject struct {
	Name   string `json:"name"`
	Index  int    `json:"index"`
	Device string `json:"device"`

	IP   netip.Addr `json:"ip"`
	Link int        `json:"link"`
	MAC  string     `json:"mac"`

	Key  string `json:"key"`
	IPv6 bool   `json:"ipv6"`

	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	UID       string `json:"uid"`

	Source string   `json:"source"`
	Pods   []string `json:"pods"`
	Layers []string `json:"layers"`
	Known  bool     `json:"known"`
}

// gatewaySysctls are the sysctls of a pod's interface by which the host answers for the pod's
// gateway. No others are set.
var gatewaySysctls = []string{"forwarding", "proxy_arp", "proxy_ndp"}

// Acting derives what must be verified from the live object. An object that cannot be read, or
// is not the one of the plan, is refused.
func (n *OnNode) Acting(on model.Ref, live model.Object) Acting {
	var o liveObject
	if err := json.Unmarshal(live.Body, &o); err != nil {
		return Acting{Refused: fmt.Sprintf("the agent's answer about %s cannot be read: %v", on, err)}
	}
	node := on.OnNode()
	_, name, _ := strings.Cut(on.Name, "/")
	differs := func(is bool, what string) Acting {
		if is {
			return Acting{Refused: fmt.Sprintf("the plan and the agent differ about %s: %s", on, what)}
		}
		return Acting{}
	}
	switch n.Verb {
	case "unlink":
		a := differs(o.Name != name || fmt.Sprint(o.Index) != n.Args["index"], "name or index")
		a.NotInUse = &NotInUse{Nodes: []string{node}, Calm: true}
		return a
	case "unroute":
		a := differs(o.IP.String() != name, "address")
		a.Running = &RunningPod{Away: number(n.Args["link"]), At: o.IP}
		return a
	case "unneighbour":
		a := differs(o.IP.String()+"/"+o.Device != name || fmt.Sprint(o.Link) != n.Args["link"] || !strings.EqualFold(o.MAC, n.Args["mac"]), "address, interface or MAC")
		a.Running = &RunningPod{Away: o.Link, MAC: o.MAC, At: o.IP}
		return a
	case "sysctl":
		if !slices.Contains(gatewaySysctls, o.Key) || n.Args["value"] != "1" {
			return Acting{Refused: fmt.Sprintf("%s=%s is not set on interfaces of pods", o.Key, n.Args["value"])}
		}
		a := differs(o.Device+"/"+o.Key != name || fmt.Sprint(o.Index) != n.Args["index"], "interface, index or key")
		a.Running = &RunningPod{Peer: o.Index}
		return a
	case "abort":
		a := differs(o.Device != n.Args["device"], "device")
		if len(o.Layers) > 0 {
			a.Refused = "images of running containers are on it: " + strings.Join(o.Layers[:min(len(o.Layers), 3)], ", ")
		}
		a.Abort, a.Users, a.Known = true, o.Pods, o.Known
		return a
	case "remove":
		a := differs(o.UID == "" || o.UID != n.Args["uid"] || o.ID != "" && o.ID != name, "ID or UID of the pod")
		if o.Namespace == "" || o.Pod == "" {
			a.Refused = "the runtime does not report the pod of " + on.String()
		}
		pod := model.Ref{Kind: model.KindPod, Name: o.Namespace + "/" + o.Pod}
		a.NotInUse = &NotInUse{Nodes: []string{node}, Containers: []string{name}, Calm: true, Absent: []model.Ref{pod}}
		a.Gone = o.UID
		return a
	default:
		return Acting{Refused: fmt.Sprintf("%.40q is not a change on a node", n.Verb)}
	}
}

// number reads an index; -1, which no interface has, if it is none.
func number(text string) int {
	n, err := strconv.Atoi(text) // as the agent reads it
	if err != nil || n <= 0 {
		return -1
	}
	return n
}
