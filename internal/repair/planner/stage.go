package planner

// A stage orders the steps of one group (see finish). The order guarantees that an
// interruption after any step leaves no address that can be assigned twice and no pod
// without a record that it had:
//
//   - a handle counts an address before a block allocates it: a count that is too high only
//     leaks the handle object; a DEL does not look into a block that the handle does not
//     count, and succeeds without releasing the address;
//   - a block allocates an address to a pod before an endpoint or annotation publishes it:
//     Felix routes an address to whoever publishes it;
//   - an endpoint without a pod is deleted before its address is released: the address may be
//     assigned again at once;
//   - counts are lowered, and handles and affinities removed, after all else.
type stage int

// The stages, in the order of execution.
const (
	removeEndpoints   stage = iota // endpoints without a pod, before their addresses are released
	raiseHandles                   // handles count what later steps allocate
	claimAffinities                // affinity of a block to create: pending
	createBlocks                   // missing blocks of running pods
	confirmAffinities              // affinity of the created block: confirmed
	repairBlocks                   // structure of blocks
	holdOrdinals                   // first of two writes of an ordinal: temporary handle
	writeOrdinals                  // release, record or transfer ordinals
	publish                        // endpoints and annotations
	recountHandles                 // handles count what the blocks now hold; done without verification (Step.Always)
	cleanUp                        // affinities; handles lowered or removed after verification
	actOnNodes                     // node objects and pods, in the order in which the planner added the steps
)
