package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/hostfile"
)

// Unconfirmed findings are kept for the next run: a difference that two runs found, with
// the same evidence, has lasted from the first to the second. One file per cluster.

const (
	maxMemory     = 64 << 20
	memoryVersion = 1
	memoryName    = "unconfirmed.json"
	oldMemoryName = "seen.json" // without a version; never read, and removed with the next write
)

// A memoryDoc is the content of the file.
type memoryDoc struct {
	Version  int          `json:"version"`
	Findings audit.Memory `json:"findings"`
}

var guidOK = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func (o *Options) memoryFile(guid string) string {
	if o.StateDir == "" || !guidOK.MatchString(guid) {
		return ""
	}
	return filepath.Join(o.StateDir, "plumbline", guid, memoryName)
}

// recall returns what earlier runs found; nothing if the file cannot be read or has another
// version. Then findings take longer to be confirmed, and none is confirmed too early.
func (o *Options) recall(guid string) audit.Memory {
	path := o.memoryFile(guid)
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var m memoryDoc
	if json.NewDecoder(io.LimitReader(f, maxMemory)).Decode(&m) != nil || m.Version != memoryVersion {
		return nil
	}
	return m.Findings
}

// keep writes the memory for the next run. A run without a home directory has none.
func (o *Options) keep(guid string, m audit.Memory) error {
	path := o.memoryFile(guid)
	if path == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), oldMemoryName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(m) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(memoryDoc{memoryVersion, m})
	if err != nil {
		return err
	}
	return hostfile.Replace(path, b, 0o600)
}
