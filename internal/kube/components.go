package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Components reads Calico's workloads and the settings that select the IPAM in use.
type Components struct{ Client *Client }

// Name is the name in progress output.
func (Components) Name() string { return "Calico workloads" }

// Tables lists the tables that it fills.
func (Components) Tables() []model.Table { return []model.Table{model.Components} }

// Collect reads them. Missing ones run in another way, which is not an error.
func (c Components) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	found, s, err := c.daemonSets(ctx)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	others, err := c.deployments(ctx, found)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	maps := configMaps{client: c.Client, read: map[string]map[string]string{}}
	var out []model.Component
	for _, w := range append(found, others...) {
		row, err := w.component(ctx, maps)
		if err != nil {
			return observe.ReadInfo{}, err
		}
		out = append(out, row)
	}
	installed, err := c.installation(ctx)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	out = append(out, installed...)
	if len(out) == 0 {
		return s, observe.ErrNotThere
	}
	s.Rows = len(out)
	b.Add(func(s *model.Snapshot) { s.Components = out })
	return s, nil
}

// nodeApps are the values of the label k8s-app of the DaemonSets that run Felix: Calico's own,
// and that of Canal. Their names and namespaces differ by distribution.
var nodeApps = []string{"calico-node", "canal"}

// daemonSets finds those that run Felix. The label may be on their pods only, so it cannot select
// them; a cluster has few DaemonSets.
func (c Components) daemonSets(ctx context.Context) ([]workload, observe.ReadInfo, error) {
	var out []workload
	s, err := c.Client.List(ctx, "/apis/apps/v1/daemonsets", url.Values{}, func(item []byte) error {
		w, err := parseWorkload(item)
		if err == nil && slices.Contains(nodeApps, w.app()) {
			out = append(out, w)
		}
		return err
	})
	s.Revision = ""
	return out, s, err
}

// Calico's Deployments, and where they are if no DaemonSet tells.
var (
	deployments = []string{"calico-kube-controllers", "calico-typha"}
	namespaces  = []string{"calico-system", "kube-system"}
)

// deployments finds Calico's other workloads, in the namespaces of its DaemonSets.
func (c Components) deployments(ctx context.Context, nodes []workload) ([]workload, error) {
	in := slices.Clone(namespaces)
	for i := range nodes {
		in = append(in, nodes[i].Metadata.Namespace)
	}
	slices.Sort(in)
	var out []workload
	for _, namespace := range slices.Compact(in) {
		for _, name := range deployments {
			raw, _, err := c.Client.Get(ctx, "/apis/apps/v1/namespaces/"+url.PathEscape(namespace)+"/deployments/"+name)
			if errors.Is(err, errNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			w, err := parseWorkload(raw)
			if err != nil {
				return nil, err
			}
			out = append(out, w)
		}
	}
	return out, nil
}

// installation reads the Installation resource of Calico's operator, if there is one.
func (c Components) installation(ctx context.Context) ([]model.Component, error) {
	if _, err := c.Client.Resources(ctx, "operator.tigera.io/v1"); errors.Is(err, errNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	raw, _, err := c.Client.Get(ctx, "/apis/operator.tigera.io/v1/installations/default")
	if errors.Is(err, errNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	row, err := parseInstallation(raw)
	return []model.Component{row}, err
}

func parseInstallation(raw []byte) (model.Component, error) {
	var o struct {
		Spec struct {
			Variant string `json:"variant"`
			CNI     struct {
				Type string `json:"type"`
				IPAM struct {
					Type string `json:"type"`
				} `json:"ipam"`
			} `json:"cni"`
			Network struct {
				Dataplane string `json:"linuxDataplane"`
			} `json:"calicoNetwork"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return model.Component{}, fmt.Errorf("installation default: %w", err)
	}
	row := model.Component{Name: "installation", Settings: map[string]string{}}
	for k, v := range map[string]string{"cni": o.Spec.CNI.Type, "ipam": o.Spec.CNI.IPAM.Type, "variant": o.Spec.Variant, "dataplane": o.Spec.Network.Dataplane} {
		if v != "" {
			row.Settings[k] = v
		}
	}
	return row, nil
}
