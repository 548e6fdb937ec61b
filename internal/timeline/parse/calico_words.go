package parse

// A word identifies a message of Calico, whatever its wording in the versions since 2017.
type word uint8

const (
	silence word = iota

	environment     // Configured environment: […]
	extracted       // Extracted identifiers
	extractedAdd    // Extracted identifiers for CmdAddK8s
	usingAddresses  // Calico CNI using IPs: […]
	resultGiven     // IPAM Result, of 2017
	populated       // Populated endpoint
	deviceChosen    // Setting the host side veth name to …
	deviceWritten   // Added Mac, interface name, …
	endpointWritten // Wrote updated endpoint to datastore
	addError        // an ADD ended with an error
	addCleanup      // Cleaning up IP allocations for failed ADD

	endpointMissing // WorkloadEndpoint does not exist in the datastore
	endpointKept    // CNI_CONTAINERID does not match WorkloadEndpoint ContainerID
	endpointLeft    // Endpoint deletion will be handled by Kubernetes deletion of the Pod.
	endpointDone    // a line that follows the step that deletes the endpoint
	delDone         // Teardown processing complete.
	delError        // a DEL ended with an error

	autoAssign       // Auto-assign 1 ipv4, 0 ipv6 addrs for host '…'
	assigned         // Auto-assigned 1 out of 1 IPv4s: […]
	assignedResult   // Calico CNI IPAM assigned addresses IPv4=[…] IPv6=[…]
	assignedGiven    // Appending an IPv4 address to the result
	releasing        // Releasing address using handleID or workloadID
	releasingHandle  // Releasing all IPs with handle '…'
	released         // Released address using handleID or workloadID
	releasedGiven    // Released explicit address: …
	releaseNothing   // Asked to release address but it doesn't exist
	releaseError     // Failed to release address
	handleCounted    // Decremented handle '…' by 1
	getKey           // Get Key: …
	deleteKey        // Delete Key: …
	deleteEmptyKey   // Delete empty Key: …
	keyNotFound      // Key not found error
	commandCompleted // Command completed without error

	leakCandidate // by kube-controllers
	leakReleased  // by kube-controllers
	felixHostname // Parsed value for FelixHostname: …
)

// An opening is the beginning of a message.
type opening struct {
	begins string
	word   word
}

// openings are by their first letter; of two that begin alike the longer comes first.
var openings = [...][]opening{
	0: {
		{"Auto-assigned ", assigned},
		{"Auto-assign ", autoAssign},
		{"Added Mac", deviceWritten},
		{"Appending an IPv", assignedGiven},
		{"Asked to release address but it doesn't exist", releaseNothing},
	},
	'C' - 'A': {
		{"Configured environment: [", environment},
		{"Command completed without error", commandCompleted},
		{"Calico CNI using IPs: [", usingAddresses},
		{"Calico CNI IPAM assigned addresses ", assignedResult},
		{"Cleaning up netns", endpointDone},
		{"Cleaning up IP allocations for failed ADD", addCleanup},
		{"CNI_CONTAINERID does not match WorkloadEndpoint ", endpointKept},
		{"Candidate IP leak", leakCandidate},
		{"Confirmed IP leak", leakCandidate},
	},
	'D' - 'A': {
		{"Delete Key: ", deleteKey},
		{"Delete empty Key: ", deleteEmptyKey},
		{"Decremented handle '", handleCounted},
	},
	'E' - 'A': {
		{"Extracted identifiers for CmdAddK8s", extractedAdd},
		{"Extracted identifiers", extracted},
		{"Endpoint object does not exist", endpointMissing},
		{"Endpoint deletion will be handled by Kubernetes", endpointLeft},
		{"Endpoint was modified before it could be deleted.  Giving up", delError},
		{"Error deleting endpoint: endpoint was modified", delError},
		{"Error setting up networking", addError},
		{"Error creating/updating endpoint in datastore", addError},
	},
	'F' - 'A': {
		{"Final result of CNI ADD was an error", addError},
		{"Final result of CNI DEL was an error", delError},
		{"Failed to release address", releaseError},
		{"Failed to release leaked IP", leakCandidate},
	},
	'G' - 'A': {
		{"Get Key: ", getKey},
		{"Garbage collecting leaked IP address ", leakReleased},
	},
	'I' - 'A': {{"IPAM Result", resultGiven}},
	'K' - 'A': {{"Key not found error", keyNotFound}},
	'L' - 'A': {{"Leaked IP address was not successfully garbage collected", leakCandidate}},
	'P' - 'A': {
		{"Populated endpoint", populated},
		{"Parsed value for FelixHostname: ", felixHostname},
		{"Pod rescheduled on new node. Allocation no longer valid", leakCandidate},
	},
	'R' - 'A': {
		{"Releasing address using ", releasing},
		{"Releasing all IPs with handle '", releasingHandle},
		{"Releasing IP address(es)", endpointDone},
		{"Released address using ", released},
		{"Released explicit address: ", releasedGiven},
	},
	'S' - 'A': {
		{"Setting the host side veth name to ", deviceChosen},
		{"Successfully garbage collected leaked IP address", leakReleased},
	},
	'T' - 'A': {{"Teardown processing complete", delDone}},
	'W' - 'A': {
		{"Wrote updated endpoint to datastore", endpointWritten},
		{"Wrote endpoint to datastore", endpointWritten},
		{"WorkloadEndpoint does not exist in the datastore", endpointMissing},
	},
}

// said gives the word of a message. It is called for every line: the first and the fifth letter
// rule out most.
func said(text []byte) word {
	const shortest = len("Get Key: ")
	if len(text) < shortest || text[0] < 'A' || int(text[0]-'A') >= len(openings) {
		return silence
	}
	list := openings[text[0]-'A']
	for i := range list {
		o := &list[i]
		if o.begins[4] == text[4] && hasPrefix(text, o.begins) {
			return o.word
		}
	}
	return silence
}
