package stage

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"plumbline.dev/plumbline/lab"
)

// A HandMade pod got its network by a real CNI ADD with the node's configuration, but
// the kubelet has no record of it, as on a node whose kubelet lost its state.
type HandMade struct {
	Pod, ID, NetNS string
}

// CreateUnrun creates pods that are bound to the node; its kubelet must be down.
func (s *Stage) CreateUnrun(ctx context.Context, n *lab.Node, names []string) error {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s  nodeName: %s\n  tolerations: [{operator: Exists}]\n---\n", s.Manifest(PodSpec{Name: name}), n.Name)
	}
	return s.Apply(ctx, b.String())
}

// AddByHand does for each pod what the runtime would do: it creates a network namespace
// and runs a CNI ADD, a few at a time.
func (s *Stage) AddByHand(ctx context.Context, n *lab.Node, names []string) ([]HandMade, error) {
	made := make([]HandMade, len(names))
	err := parallel(len(names), 4, func(i int) error {
		h := HandMade{Pod: names[i], ID: fmt.Sprintf("%064x", i+1), NetNS: "hand-" + names[i]}
		made[i] = h
		if _, err := n.Exec(ctx, "ip", "netns", "add", h.NetNS); err != nil {
			return err
		}
		_, err := n.CNI(ctx, lab.CNICall{Command: "ADD", ContainerID: h.ID, NetNS: "/run/netns/" + h.NetNS, Namespace: s.Namespace, Pod: h.Pod})
		return err
	})
	return made, err
}

// Unplug removes the network namespace; the kernel removes the interface and its route.
func (h HandMade) Unplug(ctx context.Context, n *lab.Node) error {
	_, err := n.Exec(ctx, "ip", "netns", "del", h.NetNS)
	return err
}

// Forget runs a DEL without the network namespace: it removes the records and leaves the
// host interface.
func (s *Stage) Forget(ctx context.Context, n *lab.Node, h HandMade) error {
	_, err := n.CNI(ctx, lab.CNICall{Command: "DEL", ContainerID: h.ID, Namespace: s.Namespace, Pod: h.Pod})
	return err
}

// parallel calls f for 0 to n-1, width at a time, and returns the first error.
func parallel(n, width int, f func(int) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	next := 0
	for range width {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || first != nil
				mu.Unlock()
				if stop {
					return
				}
				if err := f(i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}

// Each calls f for every hand-made pod, a few at a time.
func Each(all []HandMade, f func(HandMade) error) error {
	return parallel(len(all), 4, func(i int) error { return f(all[i]) })
}
