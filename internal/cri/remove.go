package cri

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Remove stops a sandbox, which makes the runtime call CNI DEL, and removes it. The caller
// must have verified that its pod is gone; check runs before the last read of the sandbox.
// Invariant: begun is false until the runtime was asked to stop it, so an error with begun
// false means that nothing was changed.
func (c *Client) Remove(ctx context.Context, want SandboxStatus, check func(context.Context) error, dry bool) (begun bool, err error) {
	if err := removable(&want); err != nil {
		return false, err
	}
	if err := check(ctx); err != nil {
		return false, err
	}
	now, err := c.SandboxStatus(ctx, want.ID)
	switch {
	case err != nil:
		return false, err
	case now == nil:
		return false, fmt.Errorf("sandbox %s: %w", want.ID, ErrGone)
	case !want.equal(now):
		return false, fmt.Errorf("sandbox %s has changed", want.ID)
	case dry:
		return false, nil
	}
	_, err = c.api.StopPodSandbox(ctx, &runtime.StopPodSandboxRequest{PodSandboxId: want.ID})
	if err != nil && status.Code(err) != codes.NotFound { // NotFound: another was faster
		return true, fmt.Errorf("stop sandbox %s: %w", want.ID, plain(err))
	}
	_, err = c.api.RemovePodSandbox(ctx, &runtime.RemovePodSandboxRequest{PodSandboxId: want.ID})
	if err != nil && status.Code(err) != codes.NotFound {
		return true, fmt.Errorf("remove sandbox %s: %w", want.ID, plain(err))
	}
	return true, nil
}

// podUID is a UID from the API server; that of a static pod is a hash.
var podUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// removable refuses sandboxes that the kubelet may own: a static pod is in no API, and one
// that was created by hand was wanted.
func removable(b *SandboxStatus) error {
	switch {
	case len(b.ID) != 64 || strings.Trim(b.ID, "0123456789abcdef") != "":
		return fmt.Errorf("%.80q is not a full sandbox ID", b.ID)
	case b.Namespace == "" || b.Pod == "" || b.UID == "":
		return fmt.Errorf("sandbox %s belongs to no pod", b.ID)
	case b.Source != "api", !podUID.MatchString(b.UID):
		return fmt.Errorf("sandbox %s belongs to a static pod, or was created by hand", b.ID)
	}
	return nil
}

func (b *SandboxStatus) equal(o *SandboxStatus) bool {
	return b.ID == o.ID && b.Namespace == o.Namespace && b.Pod == o.Pod && b.UID == o.UID && b.Attempt == o.Attempt &&
		b.Ready == o.Ready && b.Source == o.Source && slices.Equal(b.Containers, o.Containers)
}
