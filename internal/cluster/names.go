package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/journal"
)

// A shell that completes a word waits for it: so long, and for so many names.
const (
	namesTimeout = 2 * time.Second
	maxNames     = 500
)

var errEnough = errors.New("enough names")

// NodeNames are for completion, as are those below: the first that the API server lists within a moment, or none.
func NodeNames(ctx context.Context, o Options) []string {
	return names(ctx, o, "/api/v1/nodes")
}

// NamespaceNames are those of namespaces.
func NamespaceNames(ctx context.Context, o Options) []string {
	return names(ctx, o, "/api/v1/namespaces")
}

// PodNames are those of the pods of a namespace.
func PodNames(ctx context.Context, o Options, namespace string) []string {
	return names(ctx, o, "/api/v1/namespaces/"+url.PathEscape(namespace)+"/pods")
}

func names(ctx context.Context, o Options, path string) (out []string) {
	c, err := connect(o)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	_ = c.client.FirstNames(ctx, path, maxNames, func(name string) { out = append(out, name) }) // what has arrived helps
	return out
}

// FindingNames are those of findings that the controller lists as objects.
func FindingNames(ctx context.Context, o Options) (out []string) {
	c, err := connect(o)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	_, _ = c.client.List(ctx, "/apis/"+APIVersion+"/findings", url.Values{"limit": {strconv.Itoa(maxNames)}}, func(item []byte) error {
		var f v1alpha1.Finding
		if err := json.Unmarshal(item, &f); err == nil && f.Status.Count > 0 {
			for _, s := range f.Status.Samples {
				out = append(out, f.Spec.Code+"/"+s.Subject)
			}
		}
		if len(out) >= maxNames {
			return errEnough
		}
		return nil
	})
	return out
}

// PlanNames are those of plans that were applied to the cluster from this machine, the newest first; of those that can be
// resumed, where only they are asked for.
func PlanNames(ctx context.Context, o Options, resumable bool) (out []string) {
	c, err := connect(o)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	if err := c.findCalico(ctx); err != nil {
		return nil
	}
	defer c.Close()
	all, _ := c.History(ctx) // what could be read helps
	for _, a := range all[:min(len(all), maxNames)] {
		if a.State == journal.Stopped || a.State == journal.Interrupted || !resumable && a.State != journal.Broken {
			out = append(out, a.Plan)
		}
	}
	return out
}
