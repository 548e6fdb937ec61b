package guard

// A Verb is what a runtime asks for.
type Verb string

// The verbs of CNI 1.1.
const (
	Add    Verb = "ADD"
	Del    Verb = "DEL"
	Check  Verb = "CHECK"
	GC     Verb = "GC"
	Status Verb = "STATUS"
)

// A Key names an attachment: CNI's own identity of what an ADD makes.
type Key struct {
	Network   string `json:"network"`
	Container string `json:"container"`
	IfName    string `json:"ifName"`
}

// A Name is what a pod's device is called by those who do not look at containers. One
// name has one owner at a time.
type Name struct {
	Network   string `json:"network"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	IfName    string `json:"ifName"`
}

// A Call is what identifies a request. Nothing else of it is ever kept: arguments and
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

// Key is the attachment that the call is about.
func (c *Call) Key() Key { return Key{c.Network, c.Container, c.IfName} }

// Name is the name that the call is about; without a pod there is none.
func (c *Call) Name() Name { return Name{c.Network, c.Namespace, c.Pod, c.IfName} }
