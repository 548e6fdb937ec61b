package cri

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// told is a runtime that knows nothing more of a sandbox than its list says.
type told struct{ runtime.RuntimeServiceClient }

func (told) PodSandboxStatus(context.Context, *runtime.PodSandboxStatusRequest, ...grpc.CallOption) (*runtime.PodSandboxStatusResponse, error) {
	return &runtime.PodSandboxStatusResponse{}, nil
}

// The handler tells whose kernel a pod runs on; the usual one has no name.
func TestSandboxHandler(t *testing.T) {
	t.Parallel()
	c := &Client{api: told{}}
	rows, err := c.sandboxRows(t.Context(), "/", []*runtime.PodSandbox{{Id: "a", RuntimeHandler: "runsc"}, {Id: "b", State: runtime.PodSandboxState_SANDBOX_NOTREADY}})
	if len(rows) != 2 || rows[0].Handler != "runsc" || rows[1].Handler != "" {
		t.Errorf("%+v: %v", rows, err)
	}
}
