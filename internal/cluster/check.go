package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/planner"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// Check reads and judges the cluster once. Unconfirmed findings of earlier checks count, and
// those of this one are kept for the next.
func (c *Cluster) Check(ctx context.Context, o audit.Options) (*audit.Report, error) {
	if o.Detectors == nil {
		o.Detectors = detect.All
	}
	o.Recall, o.Progress = c.o.recall, c.o.Progress
	src := c.Source()
	if c.fleet != nil {
		src.Collectors[0], src.Ways = c.fleet.Summing(), c.fleet.Ways
	}
	r := audit.Run(ctx, src, o)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.remember(r.View.Snapshot().Meta.GUID, r.Memory)
	c.unauthenticated.report(c.o.Notice)
	if off := clocksOff(r.View.Snapshot()); off != "" {
		c.o.Notice(off)
	}
	return r, nil
}

func (c *Cluster) remember(guid string, m audit.Memory) {
	if err := c.o.keep(guid, m); err != nil {
		c.o.Notice(fmt.Sprintf("unconfirmed findings could not be kept for the next check: %v", err))
	}
	if err := c.o.lineage.keep(&c.o); err != nil {
		c.o.Notice(fmt.Sprintf("the next check will not notice that the cluster was restored: %v", err))
	}
}

// CheckSelected is Check of the pods with these labels: only findings about them are reported.
// Without labels it is Check; an empty namespace means all.
func (c *Cluster) CheckSelected(ctx context.Context, o audit.Options, namespace, labels string) (*audit.Report, error) {
	if labels != "" {
		pods, err := c.client.Selected(ctx, namespace, labels)
		if err != nil {
			return nil, err
		}
		if len(pods) == 0 {
			c.o.Notice("--selector " + labels + ": no pod has these labels")
		}
		before := o.Keep
		o.Keep = func(f *finding.Finding) bool { return about(f, pods) && (before == nil || before(f)) }
	}
	r, err := c.Check(ctx, o)
	if err != nil || namespace == "" || slices.ContainsFunc(r.View.Snapshot().Pods, func(p model.Pod) bool { return p.Namespace == namespace }) {
		return r, err
	}
	in := func(f finding.Finding) bool { return f.InNamespace(namespace) }
	if slices.ContainsFunc(slices.Concat(r.Findings, r.Unconfirmed, r.Folded, r.Suppressed), in) {
		return r, nil // what a namespace that is gone has left behind
	}
	if _, _, err := c.client.Get(ctx, "/api/v1/namespaces/"+url.PathEscape(namespace)); errors.Is(err, observe.ErrNotThere) {
		return nil, fmt.Errorf("-n %s: no such namespace", namespace)
	}
	c.o.Notice("-n " + namespace + ": no pod is in this namespace")
	return r, nil
}

// Collect reads what a check reads, without judging it.
func (c *Cluster) Collect(ctx context.Context) (*model.Snapshot, error) {
	src := c.Source()
	s := observe.Snapshot(ctx, c.o.Progress, src.Collectors...)
	src.Adjust(s)
	return s, ctx.Err()
}

// Records is Collect without the nodes: what Kubernetes and Calico have written.
func (c *Cluster) Records(ctx context.Context) (*model.Snapshot, error) {
	src := c.Source()
	if c.fleet != nil {
		src.Collectors = src.Collectors[1:]
	}
	s := observe.Snapshot(ctx, c.o.Progress, src.Collectors...)
	src.Adjust(s)
	return s, ctx.Err()
}

// Overview is Collect without the tables of the nodes: each agent reports only how many rows
// it has.
func (c *Cluster) Overview(ctx context.Context) (*model.Snapshot, error) {
	s, err := c.Records(ctx)
	if c.fleet != nil && err == nil {
		c.fleet.inShort(ctx, s)
		err = ctx.Err()
	}
	return s, err
}

// PlanOptions are the choices of the user that a plan depends on.
type PlanOptions = planner.Options

// Plan plans the repair of findings of a report of this cluster.
func (c *Cluster) Plan(ctx context.Context, r *audit.Report, chosen []finding.Finding, o PlanOptions) *repair.Plan {
	o.PodJSON, o.EndpointJSON = c.podJSON(ctx), c.endpointJSON(ctx)
	o.Schemas = c.schemas(ctx, r.View.Info())
	return PlanOf(r, chosen, c.o.Version, o)
}

// PlanOf plans the repair of findings of any report, such as one of a bundle. What needs an object
// that is not in the report is refused.
func PlanOf(r *audit.Report, chosen []finding.Finding, version string, o PlanOptions) *repair.Plan {
	o.Made, o.Version, o.IPAM, o.MassChanges = r.Taken, version, string(r.Calico.IPAM), r.MassChanges
	return planner.Make(r.View, chosen, o)
}

// CheckBundle is Check for a snapshot that WriteBundle wrote. Nothing is read again.
func CheckBundle(ctx context.Context, file string, o audit.Options) (*audit.Report, error) {
	s, err := ReadBundle(file)
	if err != nil {
		return nil, err
	}
	if o.Detectors == nil {
		o.Detectors = detect.All
	}
	return audit.Judge(ctx, s, audit.Source{}, o), nil
}

// ReadBundle reads a snapshot that WriteBundle wrote.
func ReadBundle(file string) (*model.Snapshot, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	s, err := snapshotio.ReadBundle(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return s, nil
}

// WriteBundle writes a snapshot, and logs beside it, into a new file, and tells how large it is.
func WriteBundle(file string, s *model.Snapshot, logs ...snapshotio.File) (size int64, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	err = snapshotio.WriteBundle(f, s, logs...)
	size, _ = f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = f.Sync() // before anything older is removed
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, errors.Join(fmt.Errorf("write %s: %w", file, err), os.Remove(file))
	}
	return size, nil
}
