//go:build e2e

package server_test

import (
	"io"
	"net/netip"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

type netipPrefix = netip.Prefix

// read takes an answer with all that is in it.
func read(body io.ReadCloser) *model.Snapshot {
	defer func() { _ = body.Close() }()
	s, err := snapshotio.ReadBundle(body)
	if err != nil {
		return agent.Silent(err.Error(), "node1")
	}
	return s
}
