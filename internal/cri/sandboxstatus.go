package cri

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A SandboxStatus is a pod's sandbox with its containers, as the runtime has them now.
type SandboxStatus struct {
	ID         string            `json:"id"`
	Namespace  string            `json:"namespace"`
	Pod        string            `json:"pod"`
	UID        string            `json:"uid"`
	Attempt    uint32            `json:"attempt,omitempty"`
	Ready      bool              `json:"ready,omitempty"`
	Source     string            `json:"source,omitempty"` // from where the kubelet had the pod: api, file, http
	Containers []ContainerStatus `json:"containers,omitempty"`
}

// A ContainerStatus is a container of a sandbox.
type ContainerStatus struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
	PID   int    `json:"pid,omitempty"`
}

// sourceKey is the annotation in which the kubelet records where it read a pod from.
const sourceKey = "kubernetes.io/config.source"

// ErrGone means that the object to change does not exist any more.
var ErrGone = errors.New("it does not exist any more")

// SandboxStatus returns a sandbox by its full ID; nil if the runtime has none.
func (c *Client) SandboxStatus(ctx context.Context, id string) (*SandboxStatus, error) {
	if c.bad != nil {
		return nil, c.bad
	}
	ctx, cancel := within(ctx)
	defer cancel()
	a, err := c.api.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: id})
	if status.Code(err) == codes.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("status of sandbox %s: %w", id, plain(err))
	}
	s, m := a.GetStatus(), a.GetStatus().GetMetadata()
	if s.GetId() != id { // runtimes accept the beginning of an ID
		return nil, fmt.Errorf("status of sandbox %s: the runtime answered for another sandbox", id)
	}
	b := &SandboxStatus{
		ID: id, Namespace: m.GetNamespace(), Pod: m.GetName(), UID: m.GetUid(), Attempt: m.GetAttempt(),
		Ready: s.GetState() == runtime.PodSandboxState_SANDBOX_READY, Source: s.GetAnnotations()[sourceKey],
	}
	list, err := c.api.ListContainers(ctx, &runtime.ListContainersRequest{Filter: &runtime.ContainerFilter{PodSandboxId: id}})
	if err != nil {
		return nil, fmt.Errorf("containers of sandbox %s: %w", id, plain(err))
	}
	for _, k := range list.GetContainers() {
		h := ContainerStatus{ID: k.GetId(), Name: k.GetMetadata().GetName(), State: state(k.GetState())}
		if h.State == "running" {
			d, err := c.askContainer(ctx, h.ID)
			if err != nil {
				return nil, fmt.Errorf("container %s: %w", h.ID, plain(err))
			}
			h.PID = d.pid
		}
		b.Containers = append(b.Containers, h)
	}
	slices.SortFunc(b.Containers, func(a, b ContainerStatus) int { return cmp.Compare(a.ID, b.ID) })
	return b, nil
}
