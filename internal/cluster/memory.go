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

// What a run suspected is kept for the next one: a difference that two runs saw, with
// the same facts, has lasted from the first to the second. One file per cluster.

const maxMemory = 64 << 20

var guidOK = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func (o *Options) memoryFile(guid string) string {
	if o.StateDir == "" || !guidOK.MatchString(guid) {
		return ""
	}
	return filepath.Join(o.StateDir, "plumbline", guid, "seen.json")
}

// recall gives what earlier runs saw; nothing, if that cannot be read.
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
	var m audit.Memory
	if json.NewDecoder(io.LimitReader(f, maxMemory)).Decode(&m) != nil {
		return nil // half written by a run that was stopped: forgotten, not trusted
	}
	return m
}

// keep writes the memory for the next run. A run without a home directory has none.
func (o *Options) keep(guid string, m audit.Memory) error {
	path := o.memoryFile(guid)
	if path == "" {
		return nil
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
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return hostfile.Replace(path, b, 0o600)
}
