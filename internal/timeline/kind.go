package timeline

import "slices"

// A Kind is what an event reports, the same for all components and all their versions.
type Kind uint8

// The kinds of events.
const (
	Nothing Kind = iota

	PodSeen             // a line names the pod with its UID, address or container
	PodTerminating      // its deletion was requested
	PodKilled           // the kubelet stops it
	PodKillFailed       // the kubelet could not; Note has the error
	PodGone             // Kubernetes or the kubelet reports that it no longer exists
	PodWithoutInterface // the kubelet reports that it has no eth0

	SandboxCreated
	SandboxStopped
	SandboxStopFailed
	SandboxRemoved
	SandboxRemoveFailed
	ContainerStarted
	ContainerDied
	ContainerKillFailed // it did not stop in time
	ExecFailed          // a command inside could not be run, such as a preStop hook

	AddBegin // a CNI ADD was called
	AddEnd   // it succeeded; Address and Device where the line has them
	AddFailed
	DelBegin
	DelEnd
	DelFailed

	AddressAssigned // by Calico IPAM; Object is the handle or the block
	AddressReleased // Calico IPAM reports that it was released; Object is the handle
	ReleaseAsked    // a release by handle or by name was requested; no line reports what it released
	ReleaseNothing  // it found nothing to release
	BlockRead       // Object is the block
	HandleReleased  // the handle was deleted or decremented; Object is the handle
	EndpointWritten // Object is the endpoint as the line names it
	EndpointDeleted
	EndpointMissing // it was to be deleted and did not exist
	EndpointKept    // a DEL did not delete it because it belongs to another sandbox

	GCReleased  // the IPAM garbage collector released an address as leaked; Object is the handle
	GCCandidate // the IPAM garbage collector considers an address leaked

	KubeletStarted
	RuntimeStarted
	RuntimeTimeout // the runtime did not answer in time
	MountTimeout   // a volume did not answer or could not be mounted in time
	MountBusy      // something could not be removed: the mount is in use elsewhere
	NodeNotReady
	NodeReady
	NodeNamed // Object is the name that Calico's CNI or Felix uses for this node

	CredentialSeen // the line contains a credential; Note has its type, never its value

	DelStopped // the guard did not pass a late DEL to the plugin; Note has the reason

	RouteSeen         // a node's route for Address leads to Device
	NeighbourSeen     // a node has a neighbour entry for Address on Device
	GatewayUnanswered // 169.254.1.1 is not resolved, on Device, or for the pod with Address
	GatewayAnswered   // it is
	HandleSeen        // a block has an allocation with the handle Object

	RouteAdded   // the node's own route to Address appeared; Note says by whom
	RouteRemoved // it is gone; Note says by whom or why
	lastKind
)

var kindNames = [lastKind]string{
	"nothing", "pod seen", "pod terminating", "pod killed", "pod kill failed", "pod gone", "pod without interface",
	"sandbox created", "sandbox stopped", "sandbox stop failed", "sandbox removed", "sandbox remove failed",
	"container started", "container died", "container kill failed", "exec failed",
	"ADD begin", "ADD", "ADD failed", "DEL begin", "DEL", "DEL failed",
	"address assigned", "address released", "release requested", "release found nothing", "block read", "handle released",
	"endpoint written", "endpoint deleted", "endpoint missing", "endpoint kept",
	"released by the IPAM garbage collector", "IPAM garbage collector candidate",
	"kubelet started", "runtime started", "runtime timeout", "mount timeout", "mount busy", "node not ready", "node ready", "node named",
	"credential seen",
	"late DEL stopped by the guard",
	"route seen", "neighbour seen", "gateway unanswered", "gateway answered", "handle seen",
	"route added", "route removed",
}

func (k Kind) String() string {
	if k >= lastKind {
		return kindNames[Nothing]
	}
	return kindNames[k]
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name; an unknown name is Nothing.
func (k *Kind) UnmarshalText(b []byte) error {
	*k = Kind(max(0, slices.Index(kindNames[:], string(b))))
	return nil
}
