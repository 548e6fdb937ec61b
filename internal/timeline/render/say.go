package render

import (
	"strings"

	"plumbline.dev/plumbline/internal/timeline"
)

// shortID is how many characters of an ID are shown.
const shortID = 8

func short(id string) string {
	if len(id) > shortID {
		id = id[:shortID]
	}
	return clean(id)
}

// maxSaid bounds the text of one event.
const maxSaid = 160

// reason gives the component's message for kinds of which it is shown (why).
func reason(e *timeline.Event) string {
	if !why(e.Kind) {
		return ""
	}
	return cutRight(clean(strings.TrimSpace(e.Note)), maxSaid)
}

// say gives a short text of an event.
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

// why reports whether the component's message is shown for a kind of event.
func why(k timeline.Kind) bool {
	switch k {
	case timeline.PodKillFailed, timeline.SandboxStopFailed, timeline.SandboxRemoveFailed, timeline.ContainerKillFailed, timeline.ExecFailed,
		timeline.AddFailed, timeline.DelFailed, timeline.DelStopped, timeline.RuntimeTimeout, timeline.MountTimeout, timeline.MountBusy, timeline.NodeNotReady:
		return true
	default:
		return false
	}
}

// aside reports whether an event is only a step of another that is shown.
func aside(k timeline.Kind) bool {
	switch k {
	case timeline.Nothing, timeline.BlockRead, timeline.CredentialSeen:
		return true
	default:
		return false
	}
}

// turns reports whether a kind of event ends the counting of repeated events.
func turns(k timeline.Kind) bool {
	switch k {
	case timeline.AddEnd, timeline.DelEnd, timeline.DelStopped, timeline.SandboxCreated, timeline.PodTerminating, timeline.PodGone,
		timeline.KubeletStarted, timeline.RuntimeStarted, timeline.NodeNotReady, timeline.NodeReady:
		return true
	default:
		return false
	}
}

// takes reports whether a kind of event removes something of a sandbox.
func takes(k timeline.Kind) bool {
	switch k {
	case timeline.DelBegin, timeline.DelEnd, timeline.EndpointDeleted, timeline.HandleReleased, timeline.AddressReleased, timeline.ReleaseAsked:
		return true
	default:
		return false
	}
}
