package cri

import (
	"context"
	"sync"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Collectors returns the collector of a runtime. root is where the host's files are, empty
// if they are our own: paths from the runtime are the host's.
func (c *Client) Collectors(root string) []observe.NodeCollector {
	return []observe.NodeCollector{{
		Name:   "runtime",
		Tables: []model.Table{model.Sandboxes, model.Containers, model.Runtimes},
		Read:   func(ctx context.Context, f *model.NodeState) error { return c.read(ctx, root, f) },
	}}
}

// read makes all four calls concurrently. Their durations are always complete; a list
// without an answer makes its table not read. If we did not reach a runtime, nothing is said
// about it.
func (c *Client) read(ctx context.Context, root string, f *model.NodeState) error {
	if c.bad != nil {
		return c.bad
	}
	if err := c.way.follow(); err != nil {
		return err
	}
	ctx, cancel := within(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var noSandboxes, noContainers error
	f.Runtimes = make([]model.Runtime, 4)
	wg.Go(func() {
		f.Runtimes[0] = measure("Version", func() (string, error) {
			v, err := c.api.Version(ctx, &runtime.VersionRequest{})
			return clean(v.GetRuntimeName() + " " + v.GetRuntimeVersion()), err
		})
	})
	wg.Go(func() {
		f.Runtimes[1] = measure("Status", func() (string, error) {
			_, err := c.api.Status(ctx, &runtime.StatusRequest{})
			return "", err
		})
	})
	wg.Go(func() {
		var list *runtime.ListPodSandboxResponse
		f.Runtimes[2] = measure("ListPodSandbox", func() (name string, err error) {
			list, err = c.api.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
			noSandboxes = plain(err)
			return "", err
		})
		if noSandboxes == nil {
			f.Sandboxes, noSandboxes = c.sandboxRows(ctx, root, list.GetItems())
		}
	})
	wg.Go(func() {
		var list *runtime.ListContainersResponse
		f.Runtimes[3] = measure("ListContainers", func() (name string, err error) {
			list, err = c.api.ListContainers(ctx, &runtime.ListContainersRequest{})
			noContainers = plain(err)
			return "", err
		})
		if noContainers == nil {
			f.Containers, noContainers = c.containerRows(ctx, list.GetContainers())
		}
	})
	wg.Wait()
	// A connection that was being made when we began is known only now.
	blind := c.way.follow()
	if blind == nil && noSandboxes == nil && noContainers == nil {
		return nil
	}
	if blind == nil {
		blind = c.way.blindness()
	}
	if blind != nil {
		f.Runtimes, f.Sandboxes, f.Containers = nil, nil, nil
		return blind
	}
	return observe.TableErrors{model.Sandboxes: noSandboxes, model.Containers: noContainers}
}

func measure(call string, do func() (string, error)) model.Runtime {
	began := time.Now() //nolint:forbidigo // the duration is what is measured
	name, err := do()
	r := model.Runtime{Call: call, Name: name, Millis: time.Since(began).Milliseconds()}
	if err != nil {
		r.Name, r.Error = "", plain(err).Error()
	}
	return r
}
