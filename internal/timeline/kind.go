package timeline

import "slices"

// A Kind is what happened: one vocabulary for all components and all their versions.
type Kind uint8

// The kinds of events.
const (
	Nothing Kind = iota

	PodSeen             // the kubelet or Kubernetes names the pod with its UID, address or container
	PodTerminating      // its deletion was asked for
	PodKilled           // the kubelet ends it
	PodKillFailed       // and could not; Note says why
	PodGone             // Kubernetes or the kubelet says that it is no more
	PodWithoutInterface // the kubelet misses eth0 in it

	SandboxCreated
	SandboxStopped
	SandboxStopFailed
	SandboxRemoved
	SandboxRemoveFailed
	ContainerStarted
	ContainerDied
	ContainerKillFailed // it did not end in time
	ExecFailed          // a command inside could not be run, such as a preStop hook

	AddBegin // a CNI ADD was asked for
	AddEnd   // and succeeded; Address and Device where the line has them
	AddFailed
	DelBegin
	DelEnd
	DelFailed

	AddressAssigned // by Calico's IPAM; Object is the handle or the block
	AddressReleased // Calico's IPAM says that it was freed; Object is the handle
	ReleaseAsked    // a release by handle or by name was asked for; that it freed anything is not said
	ReleaseNothing  // it found nothing to free
	BlockRead       // Object is the block
	HandleReleased  // the handle was deleted or counted down; Object is the handle
	EndpointWritten // Object is the endpoint as the line names it
	EndpointDeleted
	EndpointMissing // it was to be deleted, and was not there
	EndpointKept    // a DEL left it alone, for it belongs to another sandbox

	CollectorReleased         // kube-controllers freed an address as leaked; Object is the handle
	GarbageCollectorCandidate // it holds an address for leaked

	KubeletStarted
	RuntimeStarted
	RuntimeTimeout // the runtime did not answer in time
	MountTimeout   // a volume did not answer or could not be set up in time
	MountBusy      // something could not be removed: the mount is in use elsewhere
	NodeNotReady
	NodeReady
	NodeNamed // Object is the name that Calico's CNI or Felix uses for this node

	CredentialSeen // the line holds a secret; Note says of which sort, never which

	DelStopped // the guard kept a late DEL from the network's plugin; Note says why
	lastKind
)

var kindNames = [lastKind]string{
	"nothing", "pod seen", "pod terminating", "pod killed", "pod kill failed", "pod gone", "pod without interface",
	"sandbox created", "sandbox stopped", "sandbox stop failed", "sandbox removed", "sandbox remove failed",
	"container started", "container died", "container kill failed", "exec failed",
	"ADD begin", "ADD", "ADD failed", "DEL begin", "DEL", "DEL failed",
	"address assigned", "address released", "release asked", "release found nothing", "block read", "handle released",
	"endpoint written", "endpoint deleted", "endpoint missing", "endpoint kept",
	"collector released", "collector suspects",
	"kubelet started", "runtime started", "runtime timeout", "mount timeout", "mount busy", "node not ready", "node ready", "node named",
	"credential seen",
	"late DEL stopped by the guard",
}

func (k Kind) String() string {
	if k >= lastKind {
		return kindNames[Nothing]
	}
	return kindNames[k]
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name; what is not known is nothing.
func (k *Kind) UnmarshalText(b []byte) error {
	*k = Kind(max(0, slices.Index(kindNames[:], string(b))))
	return nil
}
