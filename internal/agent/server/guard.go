package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	guardWithin = 2 * time.Second
	maxReport   = 1 << 20
)

// serveGuard returns the guard daemon's report of this node. It is decoded into a Report
// and encoded again, so nothing else that the file may hold leaves the node.
func (s *Server) serveGuard(w http.ResponseWriter, r *http.Request) {
	report, err := take(r.Context(), s.guard, guardWithin, func() (*guard.Report, error) { return readReport(s.root) })
	if err != nil {
		http.Error(w, "read the guard's report: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	writeJSON(w, agent.GuardStatus{Node: s.node, Taken: s.now(), Report: report})
}

// readReport returns nil if there is no report: the guard was never installed, or the node
// has rebooted since.
func readReport(root string) (*guard.Report, error) {
	f, err := hostfile.Root(root).Open(path.Join(guard.Dir, guard.StatusFile), unix.O_RDONLY|unix.O_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := hostfile.ReadOpen(f, maxReport)
	switch {
	case errors.Is(err, hostfile.ErrNotRegular):
		return nil, errNoFile
	case errors.Is(err, hostfile.ErrTooBig):
		return nil, fmt.Errorf("longer than %d bytes", maxReport)
	case err != nil:
		return nil, err
	}
	return parseReport(b)
}

// parseReport decodes the guard daemon's report.
func parseReport(b []byte) (*guard.Report, error) {
	var r guard.Report
	if json.Unmarshal(b, &r) != nil {
		return nil, errors.New("not a valid report") // the content itself is not returned
	}
	if r.Schema != guard.ReportSchema {
		return nil, fmt.Errorf("the guard daemon has another version than the agent: its report has schema %d, supported is %d", r.Schema, guard.ReportSchema)
	}
	return &r, nil
}
