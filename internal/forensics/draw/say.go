package draw

import (
	"strings"

	"plumbline.dev/plumbline/internal/forensics"
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
func reason(e *forensics.Event) string {
	if !why(e.Kind) {
		return ""
	}
	return cutRight(clean(strings.TrimSpace(e.Note)), maxSaid)
}

// say tells an event in a few words.
func say(e *forensics.Event) string {
	words := e.Kind.String()
	switch e.Kind {
	case forensics.AddBegin:
		words = "ADD begins"
	case forensics.DelBegin:
		words = "DEL begins"
	case forensics.AddressAssigned:
		words = "assigned"
	case forensics.AddressReleased:
		words = "released"
	case forensics.PodSeen:
		if e.UID != "" {
			words += ", uid " + short(e.UID)
		}
	case forensics.NodeNamed, forensics.MountBusy, forensics.CollectorReleased:
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
func why(k forensics.Kind) bool {
	switch k {
	case forensics.PodKillFailed, forensics.SandboxStopFailed, forensics.SandboxRemoveFailed, forensics.ContainerKillFailed, forensics.ExecFailed,
		forensics.AddFailed, forensics.DelFailed, forensics.DelStopped, forensics.RuntimeTimeout, forensics.MountTimeout, forensics.MountBusy, forensics.NodeNotReady:
		return true
	default:
		return false
	}
}

// aside tells whether an event is only a step of another that says more.
func aside(k forensics.Kind) bool {
	switch k {
	case forensics.Nothing, forensics.BlockRead, forensics.CredentialSeen:
		return true
	default:
		return false
	}
}

// turns tells whether the story goes on differently after such an event: what is
// repeated is counted between two of them.
func turns(k forensics.Kind) bool {
	switch k {
	case forensics.AddEnd, forensics.DelEnd, forensics.DelStopped, forensics.SandboxCreated, forensics.PodTerminating, forensics.PodGone,
		forensics.KubeletStarted, forensics.RuntimeStarted, forensics.NodeNotReady, forensics.NodeReady:
		return true
	default:
		return false
	}
}

// takes tells whether such an event takes something from a sandbox.
func takes(k forensics.Kind) bool {
	switch k {
	case forensics.DelBegin, forensics.DelEnd, forensics.EndpointDeleted, forensics.HandleReleased, forensics.AddressReleased, forensics.ReleaseAsked:
		return true
	default:
		return false
	}
}
