package render

import (
	"strings"

	"plumbline.dev/plumbline/internal/timeline"
)

// shortID is how much of an ID people know a sandbox or a pod by.
const shortID = 8

func short(id string) string {
	if len(id) > shortID {
		id = id[:shortID]
	}
	return clean(id)
}

// maxSaid bounds what one event says in a lane.
const maxSaid = 160

// reason gives the component's own words, where they matter as much as what happened.
func reason(e *timeline.Event) string {
	if !why(e.Kind) {
		return ""
	}
	return cutRight(clean(strings.TrimSpace(e.Note)), maxSaid)
}

// say tells an event in a few words.
func say(e *timeline.Event) string {
	words := e.Kind.String()
	switch e.Kind {
	case timeline.AddBegin:
		words = "ADD begins"
	case timeline.DelBegin:
		words = "DEL begins"
	case timeline.AddressAssigned:
		words = "assigned"
	case timeline.AddressReleased:
		words = "released"
	case timeline.PodSeen:
		if e.UID != "" {
			words += ", uid " + short(e.UID)
		}
	case timeline.NodeNamed, timeline.MountBusy, timeline.GCReleased:
		if e.Object != "" {
			words += " " + clean(e.Object)
		}
	default:
	}
	if e.Address.IsValid() {
		words += " " + clean(e.Address.String())
	}
	return cutRight(words, maxSaid)
}

// why tells whether the component's own words matter as much as what happened.
func why(k timeline.Kind) bool {
	switch k {
	case timeline.PodKillFailed, timeline.SandboxStopFailed, timeline.SandboxRemoveFailed, timeline.ContainerKillFailed, timeline.ExecFailed,
		timeline.AddFailed, timeline.DelFailed, timeline.DelStopped, timeline.RuntimeTimeout, timeline.MountTimeout, timeline.MountBusy, timeline.NodeNotReady:
		return true
	default:
		return false
	}
}

// aside tells whether an event is only a step of another that says more.
func aside(k timeline.Kind) bool {
	switch k {
	case timeline.Nothing, timeline.BlockRead, timeline.CredentialSeen:
		return true
	default:
		return false
	}
}

// turns tells whether the story goes on differently after such an event: what is
// repeated is counted between two of them.
func turns(k timeline.Kind) bool {
	switch k {
	case timeline.AddEnd, timeline.DelEnd, timeline.DelStopped, timeline.SandboxCreated, timeline.PodTerminating, timeline.PodGone,
		timeline.KubeletStarted, timeline.RuntimeStarted, timeline.NodeNotReady, timeline.NodeReady:
		return true
	default:
		return false
	}
}

// takes tells whether such an event takes something from a sandbox.
func takes(k timeline.Kind) bool {
	switch k {
	case timeline.DelBegin, timeline.DelEnd, timeline.EndpointDeleted, timeline.HandleReleased, timeline.AddressReleased, timeline.ReleaseAsked:
		return true
	default:
		return false
	}
}
