package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

const (
	resultsDir = "/var/lib/cni/results"
	maxCached  = 20_000 // files
	maxResult  = 1 << 20
)

// A cached is what libcni keeps of an attachment, as far as it identifies it.
type cached struct {
	guard.Key
	namespace, pod, uid string
	age                 time.Duration
}

// parseCached reads a file of libcni's cache. Of its arguments only those are kept that
// identify; its configuration may hold credentials and is not looked at.
func parseCached(raw []byte) (cached, error) {
	var v struct {
		Kind      string      `json:"kind"`
		Container string      `json:"containerId"`
		IfName    string      `json:"ifName"`
		Network   string      `json:"networkName"`
		Args      [][2]string `json:"cniArgs"`
	}
	if json.Unmarshal(raw, &v) != nil { // its error may quote what it read
		return cached{}, errors.New("it is no cached result")
	}
	if v.Kind != "cniCacheV1" || v.Container == "" || v.IfName == "" || v.Network == "" {
		return cached{}, errors.New("it is no cached result that is known")
	}
	c := cached{Key: guard.Key{Network: v.Network, Container: v.Container, IfName: v.IfName}}
	for _, a := range v.Args {
		switch a[0] {
		case "K8S_POD_NAMESPACE":
			c.namespace = a[1]
		case "K8S_POD_NAME":
			c.pod = a[1]
		case "K8S_POD_UID":
			c.uid = a[1]
		}
	}
	return c, nil
}

// results reads what libcni has cached of a network. A file that cannot be read, or is of
// another kind, speaks for nobody and against nobody.
func (k *Daemon) results(network string, now time.Time) ([]cached, error) {
	dir, err := k.tree.real(resultsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir = k.tree.seen(dir)
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(maxCached)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) == maxCached {
		return nil, fmt.Errorf("%s has too many files", resultsDir)
	}
	var out []cached
	for _, name := range names {
		file := filepath.Join(dir, name)
		st, err := os.Lstat(file)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		raw, err := read(file, maxResult)
		if err != nil {
			continue
		}
		if c, err := parseCached(raw); err == nil && c.Network == network {
			c.age = now.Sub(st.ModTime())
			out = append(out, c)
		}
	}
	return out, nil
}
