package cri

import (
	"context"
	"hash/maphash"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// pollEvery is how late a change may be noticed.
const pollEvery = 2 * time.Second

// Watch calls changed when sandboxes or containers appeared, disappeared or changed state,
// and when the runtime stops or resumes answering; until the context ends.
//
// It polls and does not use GetContainerEvents, because a second listener does harm:
// containerd 1.7 and older CRI-O send each event to one listener only, so that the kubelet
// would miss ours, and in containerd 2 a listener that stops reading (a frozen agent)
// blocks RunPodSandbox on the whole node. A list comes from the runtime's memory.
func (c *Client) Watch(ctx context.Context, changed func()) error {
	if c.bad != nil {
		return c.bad
	}
	seed := maphash.MakeSeed()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	before, first := uint64(0), true
	for {
		// No answer is a state like any other.
		if now := c.print(ctx, seed); now != before || first {
			if !first && ctx.Err() == nil {
				changed()
			}
			before, first = now, false
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// print is a hash of all sandboxes and containers and their states, in any order; 0 if the
// runtime does not answer.
func (c *Client) print(ctx context.Context, seed maphash.Seed) uint64 {
	if c.way.follow() != nil {
		return 0
	}
	ctx, cancel := within(ctx)
	defer cancel()
	boxes, err := c.api.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
	if err != nil {
		return 0
	}
	containers, err := c.api.ListContainers(ctx, &runtime.ListContainersRequest{})
	if err != nil {
		return 0
	}
	sum := uint64(1)
	for _, s := range boxes.GetItems() {
		sum += maphash.Comparable(seed, key{s.GetId(), int32(s.GetState())})
	}
	for _, k := range containers.GetContainers() {
		sum += maphash.Comparable(seed, key{k.GetId(), int32(k.GetState())})
	}
	return sum
}
