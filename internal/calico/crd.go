package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// An API is access to Calico's custom resources: lists and single objects of the Kubernetes
// API.
type API interface {
	List(ctx context.Context, path string, query url.Values, each func(item []byte) error) (observe.ReadInfo, error)
	Names(ctx context.Context, path string, each func(name string)) (observe.ReadInfo, error)
	// Get and Resources return observe.ErrNotThere for what does not exist.
	Get(ctx context.Context, path string) ([]byte, time.Time, error)
	Resources(ctx context.Context, group string) ([]string, error)
}

// The API groups that Calico's resources can be in.
const (
	groupV1 = "crd.projectcalico.org/v1"
	groupV3 = "projectcalico.org/v3" // native since 3.32; read on a real API server with schemas of our own only
)

// ErrNoCRDs means that the API server has no Calico IPAM resources.
var ErrNoCRDs = errors.New("the API server has no Calico IPAM resources")

// CRDs reads the Calico datastore in custom resources.
type CRDs struct {
	API   API
	Group string
	Quick bool // only the names of handles, not their counts
	// NoIPAM: Calico's resources are there without those of its IPAM. They may have been deleted, so
	// this counts as not read.
	NoIPAM bool
}

func (c *CRDs) path(resource string) string { return "/apis/" + c.Group + "/" + resource }

// Collectors returns one per table.
func (c *CRDs) Collectors() []observe.Collector {
	handles := crd(c, "ipamhandles", []model.Table{model.Handles, model.HandleCounts}, handleRow, func(s *model.Snapshot) *[]model.Handle { return &s.Handles })
	if c.Quick {
		handles = handleNames{c}
	}
	ipam := []observe.Collector{
		handles,
		crd(c, "ipamblocks", []model.Table{model.Blocks}, blockRow, func(s *model.Snapshot) *[]model.Block { return &s.Blocks }),
		affinities{c},
	}
	if c.NoIPAM {
		ipam = []observe.Collector{noIPAM{}}
	}
	return append(ipam,
		crd(c, "ipreservations", []model.Table{model.Reservations}, reservationRow, func(s *model.Snapshot) *[]model.Reservation { return &s.Reservations }),
		noEndpoints{},
		singles{c, true},
		c.pools(),
		collectorConfig{c},
	)
}

// Config returns the collectors of small, cluster-wide configuration.
func (c *CRDs) Config() []observe.Collector {
	return []observe.Collector{c.pools(), singles{c, false}, collectorConfig{c}}
}

func (c *CRDs) pools() observe.Collector {
	return crd(c, "ippools", []model.Table{model.Pools}, poolRow, func(s *model.Snapshot) *[]model.Pool { return &s.Pools })
}

// A list reads one resource into one table.
type list[T any] struct {
	*CRDs
	resource string
	tables   []model.Table
	row      func([]byte, origin) (T, error)
	of       func(*model.Snapshot) *[]T
}

func crd[T any](c *CRDs, resource string, tables []model.Table, row func([]byte, origin) (T, error), of func(*model.Snapshot) *[]T) observe.Collector {
	return list[T]{c, resource, tables, row, of}
}

func (l list[T]) Name() string          { return l.resource }
func (l list[T]) Tables() []model.Table { return l.tables }

func (l list[T]) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	var out model.Gather[T]
	keep := newArena()
	seen, err := l.API.List(ctx, l.path(l.resource), nil, func(item []byte) error {
		row, err := keptRow(l.resource, item, keep, l.row)
		out.Add(row)
		return err
	})
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { *l.of(s) = out.Rows() })
	return seen, nil
}

// parseRow reads a single object.
func parseRow[T any](resource string, item []byte, row func([]byte, origin) (T, error)) (T, error) {
	return keptRow(resource, item, nil, row)
}

func keptRow[T any](resource string, item []byte, keep *arena, row func([]byte, origin) (T, error)) (T, error) {
	h, err := parseHeader(resource, item)
	if err != nil {
		var zero T
		return zero, err
	}
	return row(h.spec, h.origin(keep))
}

// handleNames reads only the names of handles.
type handleNames struct{ *CRDs }

func (handleNames) Name() string          { return "ipamhandles" }
func (handleNames) Tables() []model.Table { return []model.Table{model.Handles, model.HandleCounts} }

func (h handleNames) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	var out []model.Handle
	seen, err := h.API.Names(ctx, h.path("ipamhandles"), func(name string) { out = append(out, model.Handle{ID: name, Name: name}) })
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Handles = out })
	seen.Only = []model.Table{model.Handles}
	return seen, nil
}

// affinities needs the labels besides the spec.
type affinities struct{ *CRDs }

func (affinities) Name() string          { return "blockaffinities" }
func (affinities) Tables() []model.Table { return []model.Table{model.Affinities} }

func (c affinities) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	var out model.Gather[model.Affinity]
	keep := newArena()
	seen, err := c.API.List(ctx, c.path("blockaffinities"), nil, func(item []byte) error {
		row, err := keptAffinity(item, keep)
		out.Add(row)
		return err
	})
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Affinities = out.Rows() })
	return seen, nil
}

func labelledAffinity(item []byte) (model.Affinity, error) { return keptAffinity(item, nil) }

func keptAffinity(item []byte, keep *arena) (model.Affinity, error) {
	h, err := parseHeader("blockaffinities", item)
	if err != nil {
		return model.Affinity{}, err
	}
	row, err := affinityRow(h.spec, h.origin(keep))
	row.Labelled = h.labelled
	return row, err
}

// noEndpoints: in this mode the pod itself is the endpoint, and the Kubernetes node the
// node.
type noEndpoints struct{}

func (noEndpoints) Name() string          { return "endpoints" }
func (noEndpoints) Tables() []model.Table { return []model.Table{model.Endpoints, model.Hosts} }

func (noEndpoints) Collect(context.Context, *model.Builder) (observe.ReadInfo, error) {
	return observe.ReadInfo{}, observe.ErrNotThere
}

// singles reads resources with a single instance.
type singles struct {
	*CRDs
	ipam bool // with the IPAM configuration
}

func (singles) Name() string          { return "cluster" }
func (singles) Tables() []model.Table { return []model.Table{model.Cluster} }

func (c singles) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	info := model.Info{Datastore: "kdd", Group: c.Group, Ready: true}
	raw, at, err := c.API.Get(ctx, c.path("clusterinformations/default"))
	switch {
	case errors.Is(err, observe.ErrNotThere):
	case err != nil:
		return observe.ReadInfo{}, err
	default:
		o, err := parseObject("clusterinformation", raw)
		if err != nil {
			return observe.ReadInfo{}, err
		}
		if err := clusterInfo(o.Spec, &info); err != nil {
			return observe.ReadInfo{}, err
		}
		info.Revision = o.Metadata.ResourceVersion
	}
	if c.ipam {
		if err := c.settings(ctx, &info); err != nil {
			return observe.ReadInfo{}, err
		}
	}
	b.Add(func(s *model.Snapshot) { s.Info = append(s.Info, info); s.Meta.GUID = info.GUID })
	return observe.ReadInfo{At: at, Rows: 1}, nil
}

func (c *CRDs) settings(ctx context.Context, info *model.Info) error {
	config := "ipamconfigs/default"
	if c.Group == groupV3 {
		config = "ipamconfigurations/default"
	}
	return errors.Join(
		c.single(ctx, config, info, readIPAMConfig),
		c.single(ctx, "felixconfigurations/default", info, readFelixConfiguration),
	)
}

// single reads one object into the row about the cluster, if it exists.
func (c *CRDs) single(ctx context.Context, path string, info *model.Info, read func(spec []byte, info *model.Info) error) error {
	raw, _, err := c.API.Get(ctx, c.path(path))
	if errors.Is(err, observe.ErrNotThere) {
		return nil
	}
	if err != nil {
		return err
	}
	o, err := parseObject(path, raw)
	if err != nil {
		return err
	}
	return read(o.Spec, info)
}

func clusterInfo(spec []byte, info *model.Info) error {
	v, err := object.Decode("clusterinformation", spec, func(v *clusterInformation) *lossless.Extra { return &v.Extra })
	if err != nil {
		return err
	}
	info.GUID, info.Calico, info.Enterprise = v.GUID.V, v.Version.V, v.CNX.V
	info.Ready = !v.Ready.Set || v.Ready.V
	return nil
}

func readIPAMConfig(spec []byte, info *model.Info) error {
	v, err := object.Decode("ipamconfig", spec, func(v *ipamConfig) *lossless.Extra { return &v.Extra })
	if err != nil {
		return err
	}
	info.StrictAffinity = v.StrictAffinity.V || v.EtcdStrict.V
	info.MaxBlocks = v.MaxBlocksPerHost.V
	return nil
}

func readFelixConfiguration(spec []byte, info *model.Info) error {
	v, err := object.Decode("felixconfiguration", spec, func(v *felixConfiguration) *lossless.Extra { return &v.Extra })
	if err != nil {
		return err
	}
	if v.BPFEnabled.V {
		info.Dataplane = "bpf"
	}
	info.InterfacePrefix = v.InterfacePrefix.V
	return nil
}

// collectorConfig reads the settings of Calico's IPAM garbage collector.
type collectorConfig struct{ *CRDs }

func (collectorConfig) Name() string          { return "collector" }
func (collectorConfig) Tables() []model.Table { return []model.Table{model.Collector} }

func (c collectorConfig) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	raw, at, err := c.API.Get(ctx, c.path("kubecontrollersconfigurations/default"))
	if err != nil {
		return observe.ReadInfo{}, err
	}
	o, err := parseObject("kubecontrollersconfiguration", raw)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	row, err := collectorRow(o.Spec)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Collector = append(s.Collector, row) })
	return observe.ReadInfo{At: at, Rows: 1}, nil
}

// defaultGrace is the garbage-collection grace period if none is set.
const defaultGrace = 15 * time.Minute

func collectorRow(spec []byte) (model.GarbageCollectorConfig, error) {
	var v struct {
		Controllers struct {
			Node *struct {
				LeakGracePeriod *string `json:"leakGracePeriod"`
			} `json:"node"`
		} `json:"controllers"`
	}
	if err := json.Unmarshal(spec, &v); err != nil {
		return model.GarbageCollectorConfig{}, fmt.Errorf("kubecontrollersconfiguration default: %w", err)
	}
	n := v.Controllers.Node
	if n == nil {
		return model.GarbageCollectorConfig{}, nil // the controller is disabled
	}
	grace := defaultGrace
	if n.LeakGracePeriod != nil {
		d, err := time.ParseDuration(strings.TrimSpace(*n.LeakGracePeriod))
		if err != nil {
			return model.GarbageCollectorConfig{}, fmt.Errorf("kubecontrollersconfiguration default: leakGracePeriod: %w", err)
		}
		grace = d
	}
	return model.GarbageCollectorConfig{LeakGracePeriod: int64(grace / time.Second)}, nil
}
