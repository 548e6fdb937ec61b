package guard

// A Verb is the CNI command of a call (CNI_COMMAND).
type Verb string

// The commands of CNI 1.1.
const (
	Add    Verb = "ADD"
	Del    Verb = "DEL"
	Check  Verb = "CHECK"
	GC     Verb = "GC"
	Status Verb = "STATUS"

	Version Verb = "VERSION" // the runtime asks for the supported versions of CNI
)

// A Key identifies an attachment as CNI does: by network, container ID and interface name.
type Key struct {
	Network   string `json:"network"`   // name of the CNI configuration
	Container string `json:"container"` // ID of the sandbox
	IfName    string `json:"ifName"`    // in the sandbox
}

// A Name identifies a pod interface for plugins that find objects by pod name instead of by
// container ID. Invariant: at most one sandbox owns a name at a time, the holder with the
// highest Owner.Seq.
type Name struct {
	Network   string `json:"network"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	IfName    string `json:"ifName"`
}

// A Call identifies a request. Nothing else of the request is stored: arguments and
// configuration may hold credentials.
type Call struct {
	Verb      Verb
	Network   string
	Container string
	IfName    string
	Namespace string
	Pod       string
	UID       string
	NetNS     string // path, may be empty
}

// Key returns the attachment of the call.
func (c *Call) Key() Key { return Key{c.Network, c.Container, c.IfName} }

// Name returns the pod name of the call. Without a pod it identifies nothing.
func (c *Call) Name() Name { return Name{c.Network, c.Namespace, c.Pod, c.IfName} }
