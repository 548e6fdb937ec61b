package cri

import (
	"context"
	"fmt"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// sandboxDetail is what only the status of a sandbox has, and what does not change.
type sandboxDetail struct {
	info
	host bool
}

type containerDetail struct{ pid int }

func (c *Client) sandboxRows(ctx context.Context, root string, list []*runtime.PodSandbox) ([]model.Sandbox, error) {
	keys := make([]key, len(list))
	for i, s := range list {
		keys[i] = key{s.GetId(), int32(s.GetState())}
	}
	details, gone, err := c.sandboxes.all(ctx, keys, c.askSandbox)
	out := make([]model.Sandbox, 0, len(list))
	for i, s := range list {
		if gone[keys[i]] {
			continue
		}
		m, d := s.GetMetadata(), details[keys[i]]
		row := model.Sandbox{
			ID: s.GetId(), Namespace: m.GetNamespace(), Pod: m.GetName(), UID: m.GetUid(), Attempt: m.GetAttempt(),
			Ready: s.GetState() == runtime.PodSandboxState_SANDBOX_READY, HostNetwork: d.host,
			NetNS: d.netns, PID: d.pid, Handler: s.GetRuntimeHandler(), Created: model.At(time.Unix(0, s.GetCreatedAt())),
		}
		if row.NetNS != "" {
			row.Inode = inode(root, row.NetNS)
		}
		if _, told := details[keys[i]]; told && row.Ready && !row.HostNetwork && row.NetNS == "" && err == nil {
			err = fmt.Errorf("sandbox %s: the runtime does not report its network namespace: %w", row.ID, observe.ErrPartial)
		}
		out = append(out, row)
	}
	return out, err
}

func (c *Client) askSandbox(ctx context.Context, id string) (sandboxDetail, error) {
	a, err := c.api.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: id, Verbose: true})
	if err != nil {
		return sandboxDetail{}, err
	}
	i, err := parseInfo(a.GetInfo())
	if err != nil {
		return sandboxDetail{}, fmt.Errorf("status of sandbox %s: %w", id, err)
	}
	host := a.GetStatus().GetLinux().GetNamespaces().GetOptions().GetNetwork() == runtime.NamespaceMode_NODE
	return sandboxDetail{info: i, host: host}, nil
}

func (c *Client) containerRows(ctx context.Context, list []*runtime.Container) ([]model.Container, error) {
	var running []key
	for _, k := range list {
		if k.GetState() == runtime.ContainerState_CONTAINER_RUNNING {
			running = append(running, key{k.GetId(), int32(k.GetState())})
		}
	}
	details, gone, err := c.containers.all(ctx, running, c.askContainer)
	out := make([]model.Container, 0, len(list))
	for _, k := range list {
		at := key{k.GetId(), int32(k.GetState())}
		if gone[at] {
			continue
		}
		out = append(out, model.Container{
			ID: k.GetId(), Sandbox: k.GetPodSandboxId(), Name: k.GetMetadata().GetName(),
			State: state(k.GetState()), PID: details[at].pid,
		})
	}
	return out, err
}

func (c *Client) askContainer(ctx context.Context, id string) (containerDetail, error) {
	a, err := c.api.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return containerDetail{}, err
	}
	i, err := parseInfo(a.GetInfo())
	if err != nil {
		return containerDetail{}, fmt.Errorf("status of container %s: %w", id, err)
	}
	return containerDetail{pid: i.pid}, nil
}

// image is the name that the user gave, if the runtime keeps it.
func state(s runtime.ContainerState) string {
	switch s {
	case runtime.ContainerState_CONTAINER_CREATED:
		return "created"
	case runtime.ContainerState_CONTAINER_RUNNING:
		return "running"
	case runtime.ContainerState_CONTAINER_EXITED:
		return "exited"
	default:
		return "unknown"
	}
}
