// Package load fills a control-plane-only lab with the objects of a large cluster and
// with known faults, directly in etcd as the API server and Calico store them.
package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/lab"
)

// Config describes what to fill a lab with.
type Config struct {
	Nodes       int
	PodsPerNode int
	Faults      Faults
	Seed        uint64 // the same seed gives the same names, addresses and identifiers; if 0, 1

	Now     time.Time     // ages are counted back from this time; if zero, the present
	Timeout time.Duration // timeout for everything; if zero, 15 minutes
	Say     lab.Progress  // is called for each step, if set
}

// Summary describes what was written and how long it took.
type Summary struct {
	Nodes, Pods, Objects int
	Bytes                int64         // size of keys and values
	Write                time.Duration // until etcd had everything
	Settle               time.Duration // from then until the API server's caches had everything
	Faults               []Fault
}

// The lab must have no controllers that act on objects, and must not be loaded.
var (
	ErrControllers = errors.New("the lab has controllers, which would act on the objects; start it with --control-plane-only")
	ErrLoaded      = errors.New("the lab was already loaded, at least in part; start a new one")
)

// Fill loads the lab that this process runs in and returns the injected faults.
func Fill(ctx context.Context, l *lab.Lab, c Config) ([]Fault, error) {
	s, err := Run(ctx, l, c)
	return s.Faults, err
}

// Run is Fill with a summary of size and duration.
func Run(ctx context.Context, l *lab.Lab, c Config) (Summary, error) {
	if _, ok := lab.Inside(); !ok {
		return Summary{}, lab.ErrOutside
	}
	if !l.ControlPlaneOnly {
		return Summary{}, ErrControllers
	}
	c = c.withDefaults()
	p, err := newPlan(c, l.Datastore)
	if err != nil {
		return Summary{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	s, err := openStores(l)
	if err != nil {
		return Summary{}, err
	}
	defer s.close()

	c.Say("write the objects", 0)
	start := time.Now()
	revision, faults, err := s.fill(ctx, l, p)
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{
		Nodes: len(p.nodes), Pods: c.Nodes*c.PodsPerNode + c.Faults[Finished],
		Objects: int(s.objects.Load()), Bytes: s.bytes.Load(), Faults: faults, Write: time.Since(start),
	}
	c.Say("write the objects", sum.Write)

	c.Say("the API server catches up", 0)
	start = time.Now()
	if err := settle(ctx, l, revision); err != nil {
		return sum, fmt.Errorf("wait until the API server has revision %d: %w", revision, err)
	}
	sum.Settle = time.Since(start)
	c.Say("the API server catches up", sum.Settle)
	return sum, nil
}

func (c Config) withDefaults() Config {
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Now.IsZero() {
		c.Now = time.Now()
	}
	c.Now = c.Now.UTC().Truncate(time.Second)
	if c.Timeout == 0 {
		c.Timeout = 15 * time.Minute
	}
	if c.Say == nil {
		c.Say = func(string, time.Duration) {}
	}
	return c
}

// settle waits until the caches of the API server, each of which watches etcd
// separately, have reached the revision: an earlier list would be stale.
func settle(ctx context.Context, l *lab.Lab, revision int64) error {
	paths := []string{"/api/v1/namespaces", "/api/v1/nodes", "/api/v1/pods"}
	if l.Datastore == lab.KDD {
		for _, r := range []string{"ippools", "ipamblocks", "blockaffinities", "ipamhandles"} {
			paths = append(paths, "/apis/crd.projectcalico.org/v1/"+r)
		}
	}
	for _, path := range paths {
		path := fmt.Sprintf("%s?limit=1&resourceVersion=%d&resourceVersionMatch=NotOlderThan", path, revision)
		err := lab.Eventually(ctx, 5*time.Minute, func(ctx context.Context) error {
			var list struct{ Kind string }
			return l.Get(ctx, path, &list)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
