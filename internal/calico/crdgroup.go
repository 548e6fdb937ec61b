package calico

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// FindCRDs returns the API group of the IPAM resources. Calico's aggregated API server has
// the group v3 too, but no blocks in it. During and after a migration both groups have them, and
// only the one that Calico uses is current: inUse says which.
func FindCRDs(ctx context.Context, api API, inUse func(context.Context) (group string, err error)) (*CRDs, error) {
	var there, bare []string
	for _, g := range []string{groupV1, groupV3} {
		names, err := api.Resources(ctx, g)
		if err != nil && !errors.Is(err, observe.ErrNotThere) {
			return nil, err
		}
		if slices.Contains(names, "ipamblocks") {
			there = append(there, g)
		} else if g == groupV1 && slices.Contains(names, "clusterinformations") {
			bare = append(bare, g)
		}
	}
	switch len(there) {
	case 0:
		if len(bare) == 0 {
			return nil, ErrNoCRDs
		}
		return &CRDs{API: api, Group: bare[0], NoIPAM: true}, nil
	case 1:
		return &CRDs{API: api, Group: there[0]}, nil
	}
	g, err := inUse(ctx)
	if err == nil && !slices.Contains(there, g) {
		err = fmt.Errorf("the workloads of Calico name the group %q", g)
	}
	if err != nil {
		return nil, fmt.Errorf("IPAM blocks are in both %s and %s, and which ones Calico uses is not known: %w", groupV1, groupV3, err)
	}
	return &CRDs{API: api, Group: g}, nil
}

// GroupInUse is the API group that Calico uses if both have its resources: the one that the
// setting CALICO_API_GROUP of its workloads names, and the older one without that setting. They
// must agree, and none may be in a rollout.
func GroupInUse(workloads []model.Component) (string, error) {
	group := ""
	for i := range workloads {
		w := &workloads[i]
		if w.Wanted == 0 {
			continue // the operator's Installation
		}
		g := cmp.Or(w.Settings["CALICO_API_GROUP"], groupV1)
		if g == "projectcalico.org" {
			g = groupV3
		}
		switch {
		case w.Old > 0:
			return "", fmt.Errorf("%s is being rolled out", w.Name)
		case group != "" && g != group:
			return "", fmt.Errorf("%s uses %s, others use %s", w.Name, g, group)
		}
		group = g
	}
	if group == "" {
		return "", errors.New("no workload of Calico was found")
	}
	return group, nil
}

// noIPAM stands for the IPAM tables where their resources do not exist.
type noIPAM struct{}

func (noIPAM) Name() string { return "ipamblocks" }
func (noIPAM) Tables() []model.Table {
	return []model.Table{model.Handles, model.HandleCounts, model.Blocks, model.Affinities}
}

func (noIPAM) Collect(context.Context, *model.Builder) (observe.ReadInfo, error) {
	return observe.ReadInfo{}, ErrNoCRDs
}
