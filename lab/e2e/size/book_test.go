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

// A book has the figures of many clusters, as they are kept in a file.
type book struct {
	Clusters []cluster `json:"clusters"`
}

// A cluster is one that was measured. Model and detectors alone are measured in one
// whose datastore is "memory".
type cluster struct {
	Datastore string    `json:"datastore"`
	Nodes     int       `json:"nodes,omitempty"`
	Pods      int       `json:"pods"`
	Objects   int       `json:"objects,omitempty"`
	Stored    int64     `json:"stored,omitempty"`
	Busy      string    `json:"load,omitempty"` // of the machine, when it began
	Rows      []figures `json:"rows"`
}

// row gives the figures of one of those who were measured, or none.
func (c *cluster) row(what string) figures {
	for _, f := range c.Rows {
		if f.What == what {
			return f
		}
	}
	return figures{}
}

// read takes in the files that are there.
func (b *book) read(paths ...string) error {
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
		var more book
		if err := json.Unmarshal(text, &more); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		for _, c := range more.Clusters {
			b.add(c)
		}
	}
	return nil
}

// add takes in a cluster, in place of one of about the same size.
func (b *book) add(c cluster) {
	same := func(o cluster) bool {
		return o.Datastore == c.Datastore && max(o.Pods, c.Pods)-min(o.Pods, c.Pods) < max(o.Pods, c.Pods)/10
	}
	b.Clusters = append(slices.DeleteFunc(b.Clusters, same), c)
	slices.SortFunc(b.Clusters, func(a, b cluster) int {
		return cmp.Or(-cmp.Compare(a.Datastore, b.Datastore), cmp.Compare(a.Pods, b.Pods))
	})
}

func (b *book) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// middlePair gives, of two that were measured in turn, the pair whose times are in neither
// the highest nor the lowest proportion, since what disturbs one mostly disturbs the
// other; and keeps all.
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

// all gives what was measured several times, one by one.
func (f figures) all() []figures {
	if len(f.Each) > 0 {
		return f.Each
	}
	return []figures{f}
}
