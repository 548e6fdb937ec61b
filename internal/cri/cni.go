package cri

import (
	"context"
	"fmt"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/internal/observe"
)

// CNI asks the runtime for its CNI directories, so that no table of distributions is
// needed. ErrNotThere: this runtime does not report them.
func (c *Client) CNI(ctx context.Context) (confDir string, binDirs []string, err error) {
	if c.bad != nil {
		return "", nil, c.bad
	}
	ctx, cancel := within(ctx)
	defer cancel()
	a, err := c.api.Status(ctx, &runtime.StatusRequest{Verbose: true})
	if err != nil {
		return "", nil, fmt.Errorf("ask the runtime for its configuration: %w", plain(err))
	}
	confDir, binDirs, err = parseConfig(a.GetInfo())
	if err == nil && confDir == "" && len(binDirs) == 0 {
		err = observe.ErrNotThere
	}
	if err != nil {
		err = fmt.Errorf("ask the runtime for its configuration: %w", err)
	}
	return confDir, binDirs, err
}
