package finding

import (
	"regexp"
	"strings"
)

// The codes, for life: a code that is no longer reported is not used again. What each means
// is in its page (detect.Page).
const (
	PL1001 Code = "PL1001" // address allocated, nobody uses it
	PL1002 Code = "PL1002" // address in use, not allocated: the next pod may get it
	PL1003 Code = "PL1003" // allocation names another pod or node than the one that uses it
	PL1004 Code = "PL1004" // block structure broken
	PL1005 Code = "PL1005" // blocks overlap, lie outside every pool, or have the wrong size
	PL1006 Code = "PL1006" // handle and blocks disagree, or a legacy handle that another pod's DEL can release
	PL1007 Code = "PL1007" // affinity without block or node, or block and affinity disagree
	PL1008 Code = "PL1008" // tunnel address not recorded, or given to a pod
	PL1009 Code = "PL1009" // pool or node nearly out of addresses
	PL1010 Code = "PL1010" // no enabled pool has addresses for pods, or the pool of running pods is gone
	PL1011 Code = "PL1011" // LoadBalancer Service holds several addresses of one family
	PL1012 Code = "PL1012" // addresses of host-local and sandboxes of the node disagree
	PL2001 Code = "PL2001" // running pod has no endpoint, or lost its address annotation
	PL2002 Code = "PL2002" // endpoint without a pod, or on a node where its pod does not run
	PL2003 Code = "PL2003" // endpoint or annotation belongs to another sandbox than the one that runs
	PL2004 Code = "PL2004" // pod addresses differ between Kubernetes, Calico and the node
	PL2010 Code = "PL2010" // duplicate address: more than one pod, tunnel or service uses it
	PL3001 Code = "PL3001" // cali* interface that no pod uses
	PL3002 Code = "PL3002" // host interface of a pod is missing, down, or not connected to the pod
	PL3003 Code = "PL3003" // host route of a pod is missing, or points to another interface
	PL3004 Code = "PL3004" // neighbour entry for a pod's address is on another interface, or has another MAC
	PL3005 Code = "PL3005" // pod cannot resolve its gateway 169.254.1.1
	PL3006 Code = "PL3006" // address, routes or interface are wrong inside a pod's network namespace
	PL3007 Code = "PL3007" // node does not reach the pods of another node
	PL3008 Code = "PL3008" // node does not forward packets of its pods
	PL3009 Code = "PL3009" // MTU of pods or of a tunnel is larger than what carries it
	PL4001 Code = "PL4001" // pod stuck in Terminating
	PL4002 Code = "PL4002" // container's process is a zombie or cannot be killed
	PL4003 Code = "PL4003" // namespace links unreadable, container without sandbox, sandbox without pod
	PL4004 Code = "PL4004" // mount does not answer
	PL4005 Code = "PL4005" // container runtime is slow or does not answer
	PL4006 Code = "PL4006" // runtime retries a CNI DEL that never succeeds
	PL4007 Code = "PL4007" // CNI ADD fails: pods on the node do not start
	PL4008 Code = "PL4008" // Felix is not ready: new pods on the node are not reachable
	PL4009 Code = "PL4009" // node is not ready
	PL4010 Code = "PL4010" // pod keeps mounts of removed containers: it mounts the runtime's directories
	PL5001 Code = "PL5001" // nodes fail in the order in which a workload lands on them
	PL5002 Code = "PL5002" // IPAM garbage collector is stalled, crashes, or will release an address in use
	PL5003 Code = "PL5003" // wrong node name in a node's CNI configuration or nodename file
	PL5004 Code = "PL5004" // block affinity lacks the labels by which Calico IPAM finds it
	PL5005 Code = "PL5005" // Calico has another address for a node than the node has
	PL5006 Code = "PL5006" // kube-proxy does not work: Services are not reachable from the node, or as they were
	PL5007 Code = "PL5007" // guard is to enforce, and does not protect the node for certain
	PL9001 Code = "PL9001" // Plumbline cannot read this node
	PL9002 Code = "PL9002" // credential written to a log
	PL9003 Code = "PL9003" // datastore locked: no pod can start or stop
	PL9004 Code = "PL9004" // suppression expired
	PL9005 Code = "PL9005" // Calico version with a known fault, or mixed Calico versions
	PL9006 Code = "PL9006" // datastore was restored from an earlier time
)

var codeSyntax = regexp.MustCompile(`^(?i:PL)[0-9]{4}$`)

// ParseCode reads a code as a person types it, in any case; there may be no such code.
func ParseCode(s string) (c Code, ok bool) {
	return Code(strings.ToUpper(s)), codeSyntax.MatchString(s)
}

// A Key names a finding: stable between runs, and what a person types.
type Key struct {
	Code Code
	Name string // of the subject
}

// String gives CODE/NAME.
func (k Key) String() string { return string(k.Code) + "/" + k.Name }

// KeyOf gives the name of the finding of a code about a subject.
func KeyOf(c Code, subject string) string { return Key{c, subject}.String() }

// ParseKey reads CODE/NAME; ok is false if there is no name.
func ParseKey(s string) (k Key, ok bool) {
	code, name, ok := strings.Cut(s, "/")
	return Key{Code(code), name}, ok
}
