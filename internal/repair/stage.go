package repair

// A stage is when, among the steps that hang together, one is done. The order is what
// keeps a plan that is cut off anywhere harmless: a handle counts before a block gives,
// the ledger says so before an endpoint does, and what takes away comes after what gives.
type stage int

// The stages, in the order of execution.
const (
	removeEndpoints   stage = iota // endpoints that are nobody's: before their address can go to another
	raiseHandles                   // handles: what will be held is counted before
	claimAffinities                // a node's affinity for a block that is to be made: pending
	createBlocks                   // a block that is gone although pods live in it
	confirmAffinities              // that affinity: confirmed
	repairBlocks                   // the structure of blocks
	holdOrdinals                   // the first of two writes of one ordinal
	writeOrdinals                  // ordinals of blocks
	publish                        // endpoints and annotations: the ledger came first
	recountHandles                 // handles: what the blocks now hold
	cleanUp                        // affinities
	actOnNodes                     // on nodes and pods, in the order in which an action asked for it
)
