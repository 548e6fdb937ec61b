package calico

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// groups is an API that only has these groups, all with IPAM blocks.
type groups struct {
	API
	there []string
	bare  bool // without those of IPAM
}

func (g groups) Resources(_ context.Context, group string) ([]string, error) {
	for _, t := range g.there {
		if t == group {
			if g.bare {
				return []string{"ippools", "clusterinformations"}, nil
			}
			return []string{"ippools", "clusterinformations", "ipamblocks"}, nil
		}
	}
	return nil, observe.ErrNotThere
}

// If both groups have blocks, one of them is stale: it is never guessed which.
func TestFindCRDs(t *testing.T) {
	t.Parallel()
	inUse := func(ws ...model.Component) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return GroupInUse(ws) }
	}
	v3 := map[string]string{"CALICO_API_GROUP": groupV3}
	node, controllers := model.Component{Name: "calico-node", Wanted: 3}, model.Component{Name: "calico-kube-controllers", Wanted: 1}
	node3, controllers3, rolling := node, controllers, node
	node3.Settings, controllers3.Settings, rolling.Settings, rolling.Old = v3, v3, v3, 2
	both := groups{there: []string{groupV1, groupV3}}
	for name, c := range map[string]struct {
		api     groups
		inUse   func(context.Context) (string, error)
		want    string
		problem string
	}{
		"only v1":       {groups{there: []string{groupV1}}, nil, groupV1, ""},
		"only v3":       {groups{there: []string{groupV3}}, nil, groupV3, ""},
		"no IPAM":       {groups{there: []string{groupV1}, bare: true}, nil, groupV1, ""},
		"aggregated":    {groups{there: []string{groupV3}, bare: true}, nil, "", ErrNoCRDs.Error()},
		"none":          {groups{}, nil, "", ErrNoCRDs.Error()},
		"not told":      {both, inUse(node, controllers), groupV1, ""},
		"migrated":      {both, inUse(node3, controllers3, model.Component{Name: "installation"}), groupV3, ""},
		"half migrated": {both, inUse(node3, controllers), "", "calico-kube-controllers uses crd.projectcalico.org/v1, others use projectcalico.org/v3"},
		"rolling out":   {both, inUse(rolling, controllers3), "", "calico-node is being rolled out"},
		"no workloads":  {both, inUse(), "", "no workload of Calico was found"},
		"not asked":     {both, func(context.Context) (string, error) { return "", errors.New("forbidden") }, "", "forbidden"},
	} {
		got, err := FindCRDs(t.Context(), c.api, c.inUse)
		switch {
		case c.problem != "":
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || got.Group != c.want || got.NoIPAM != c.api.bare:
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
