//go:build e2e

package size

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// results has the figures of many clusters, as stored in a file.
type results struct {
	Clusters []cluster `json:"clusters"`
}

// A cluster is a measured cluster. Model and detectors alone are measured in one whose
// datastore is "memory".
type cluster struct {
	Datastore string    `json:"datastore"`
	Nodes     int       `json:"nodes,omitempty"`
	Pods      int       `json:"pods"`
	Objects   int       `json:"objects,omitempty"`
	Stored    int64     `json:"stored,omitempty"`
	Busy      string    `json:"load,omitempty"` // load average of the machine at the start
	Rows      []figures `json:"rows"`
}

// row returns the figures of one program, or none.
func (c *cluster) row(what string) figures {
	for _, f := range c.Rows {
		if f.What == what {
			return f
		}
	}
	return figures{}
}

// read reads the files that exist.
func (b *results) read(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		var more results
		if err := json.Unmarshal(text, &more); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		for _, c := range more.Clusters {
			b.add(c)
		}
	}
	return nil
}

// add adds a cluster, and replaces one of about the same size.
func (b *results) add(c cluster) {
	same := func(o cluster) bool {
		return o.Datastore == c.Datastore && max(o.Pods, c.Pods)-min(o.Pods, c.Pods) < max(o.Pods, c.Pods)/10
	}
	b.Clusters = append(slices.DeleteFunc(b.Clusters, same), c)
	slices.SortFunc(b.Clusters, func(a, b cluster) int {
		return cmp.Or(-cmp.Compare(a.Datastore, b.Datastore), cmp.Compare(a.Pods, b.Pods))
	})
}

func (b *results) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// middlePair returns, of pairs that were measured in turn, the one with the median ratio
// of times, since a disturbance of one mostly affects the other too; and keeps all.
func middlePair(a, b []figures) (figures, figures) {
	order := make([]int, len(a))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Compare(a[i].Wall/b[i].Wall, a[k].Wall/b[k].Wall) })
	m := order[len(order)/2]
	x, y := a[m], b[m]
	if len(a) > 1 {
		x.Each, y.Each = a, b
	}
	return x, y
}

// all returns repeated measurements one by one.
func (f figures) all() []figures {
	if len(f.Each) > 0 {
		return f.Each
	}
	return []figures{f}
}
