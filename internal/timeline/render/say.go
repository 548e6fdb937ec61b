package render

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/cnierror"
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

// reason gives the component's message for kinds of which it is shown.
func reason(e *timeline.Event) string {
	if !withReason.has(e.Kind) {
		return ""
	}
	return cutRight(clean(strings.TrimSpace(cnierror.OwnWords(e.Note))), maxSaid)
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

// A set of kinds of events.
type kinds []timeline.Kind

func (s kinds) has(k timeline.Kind) bool { return slices.Contains(s, k) }

var (
	// The component's message is shown.
	withReason = kinds{
		timeline.PodKillFailed, timeline.SandboxStopFailed, timeline.SandboxRemoveFailed, timeline.ContainerKillFailed, timeline.ExecFailed,
		timeline.AddFailed, timeline.DelFailed, timeline.DelStopped, timeline.RuntimeTimeout, timeline.MountTimeout, timeline.MountBusy, timeline.NodeNotReady,
		timeline.RouteAdded, timeline.RouteRemoved,
	}
	// Only a step of another event that is shown.
	notShown = kinds{timeline.Nothing, timeline.BlockRead, timeline.CredentialSeen}
	// Ends the counting of repeated events.
	endsCount = kinds{
		timeline.AddEnd, timeline.DelEnd, timeline.DelStopped, timeline.SandboxCreated, timeline.PodTerminating, timeline.PodGone,
		timeline.KubeletStarted, timeline.RuntimeStarted, timeline.NodeNotReady, timeline.NodeReady,
	}
	// Removes something of a sandbox.
	removes = kinds{timeline.DelBegin, timeline.DelEnd, timeline.EndpointDeleted, timeline.HandleReleased, timeline.AddressReleased, timeline.ReleaseAsked}
)
