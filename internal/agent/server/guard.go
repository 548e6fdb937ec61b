package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/guard"
)

const (
	guardWithin = 2 * time.Second
	maxReport   = 1 << 20
)

// serveGuard hands out what the guard's keeper says of this node. Nothing else that the
// file may hold leaves: it is read into a Report and written anew.
func (s *Server) serveGuard(w http.ResponseWriter, r *http.Request) {
	report, err := take(r.Context(), s.guard, guardWithin, func() (*guard.Report, error) { return readReport(s.root) })
	if err != nil {
		http.Error(w, "the guard's report: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	writeJSON(w, agent.GuardStatus{Node: s.node, Taken: s.now(), Report: report})
}

// readReport gives nil if there is none: the guard was never installed, or the node was
// started anew since.
func readReport(root string) (*guard.Report, error) {
	name := strings.TrimPrefix(path.Join(guard.Dir, guard.StatusFile), "/")
	fd, err := inRoot(root, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errNoFile
	}
	b, err := io.ReadAll(io.LimitReader(f, maxReport+1))
	if err != nil {
		return nil, err
	}
	return parseReport(b)
}

// parseReport reads what the keeper wrote.
func parseReport(b []byte) (*guard.Report, error) {
	if len(b) > maxReport {
		return nil, fmt.Errorf("it is longer than %d bytes", maxReport)
	}
	var r guard.Report
	if json.Unmarshal(b, &r) != nil {
		return nil, errors.New("it cannot be understood") // what it holds instead is nobody's to see
	}
	return &r, nil
}
