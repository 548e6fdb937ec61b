package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	resultsDir = "/var/lib/cni/results"
	maxCached  = 20_000 // files
	maxResult  = 1 << 20
)

// A cached is what identifies an attachment in libcni's cache.
type cached struct {
	guard.Key
	namespace, pod, uid string
	age                 time.Duration
}

// parseCached reads a file of libcni's cache. Of the arguments only those that identify the
// attachment are kept; the configuration may hold credentials and is not read.
func parseCached(raw []byte) (cached, error) {
	var v struct {
		Kind      string      `json:"kind"`
		Container string      `json:"containerId"`
		IfName    string      `json:"ifName"`
		Network   string      `json:"networkName"`
		Args      [][2]string `json:"cniArgs"`
	}
	if json.Unmarshal(raw, &v) != nil { // the error may quote the content
		return cached{}, errors.New("not a cached CNI result")
	}
	if v.Kind != "cniCacheV1" || v.Container == "" || v.IfName == "" || v.Network == "" {
		return cached{}, errors.New("not a cached CNI result of a known version")
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

// results reads the results that libcni has cached for a network. A file that cannot be
// read or is of another kind is ignored.
func (k *daemon) results(network string, now time.Time) ([]cached, error) {
	dir, err := k.tree.Resolve(resultsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir = k.tree.Path(dir)
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	names, more, err := hostfile.Names(d, maxCached-1)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fmt.Errorf("%s has %d files or more", resultsDir, maxCached)
	}
	var out []cached
	for _, name := range names {
		file := filepath.Join(dir, name)
		st, err := os.Lstat(file)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		raw, err := hostfile.ReadFollow(file, maxResult)
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
