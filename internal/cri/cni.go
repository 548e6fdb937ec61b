package cri

import (
	"context"
	"fmt"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/internal/observe"
)

// CNIDirectory asks the runtime for the directory of its CNI configurations, so that no table
// of distributions is needed. ErrNotThere: this runtime does not report it.
func (c *Client) CNIDirectory(ctx context.Context) (string, error) {
	if c.bad != nil {
		return "", c.bad
	}
	ctx, cancel := within(ctx)
	defer cancel()
	a, err := c.api.Status(ctx, &runtime.StatusRequest{Verbose: true})
	if err != nil {
		if blind := c.way.blindness(); blind != nil {
			return "", blind
		}
		return "", fmt.Errorf("ask the runtime for its configuration: %w", plain(err))
	}
	dir, bins, err := parseConfig(a.GetInfo())
	if err == nil {
		c.bins.Store(&bins)
	}
	if err == nil && dir == "" {
		err = observe.ErrNotThere
	}
	if err != nil {
		err = fmt.Errorf("ask the runtime for its configuration: %w", err)
	}
	return dir, err
}

// CNIBinaries are the directories of its CNI plugins, as the runtime last named them.
func (c *Client) CNIBinaries() []string {
	if bins := c.bins.Load(); bins != nil {
		return *bins
	}
	return nil
}
