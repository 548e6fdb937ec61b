package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Components reads Calico's workloads and the settings that select the IPAM in use.
type Components struct{ Client *Client }

// Name is the name in progress output.
func (Components) Name() string { return "Calico workloads" }

// Tables lists the tables that it fills.
func (Components) Tables() []model.Table { return []model.Table{model.Components} }

// Namespaces of Calico's workloads: installed by manifest, by operator.
var workloads = []string{
	"/apis/apps/v1/namespaces/kube-system/daemonsets/calico-node",
	"/apis/apps/v1/namespaces/calico-system/daemonsets/calico-node",
	"/apis/apps/v1/namespaces/kube-system/deployments/calico-kube-controllers",
	"/apis/apps/v1/namespaces/calico-system/deployments/calico-kube-controllers",
	"/apis/apps/v1/namespaces/kube-system/deployments/calico-typha",
	"/apis/apps/v1/namespaces/calico-system/deployments/calico-typha",
}

// Collect reads them. Missing ones run in another way, which is not an error.
func (c Components) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	var out []model.Component
	var s observe.ReadInfo
	for _, path := range workloads {
		raw, at, err := c.Client.Get(ctx, path)
		if errors.Is(err, errNotFound) {
			continue
		}
		if err != nil {
			return observe.ReadInfo{}, err
		}
		w, err := parseWorkload(raw)
		if err != nil {
			return observe.ReadInfo{}, err
		}
		out = append(out, w)
		s.At = at
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
	var o struct {
		Spec struct {
			CNI struct {
				Type string `json:"type"`
				IPAM struct {
					Type string `json:"type"`
				} `json:"ipam"`
			} `json:"cni"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("installation default: %w", err)
	}
	return []model.Component{{Name: "installation", Settings: map[string]string{"cni": o.Spec.CNI.Type, "ipam": o.Spec.CNI.IPAM.Type}}}, nil
}

// settings are the environment variables that select Calico's behaviour; none is a secret.
var settings = []string{"USE_POD_CIDR", "CALICO_NETWORKING_BACKEND", "FELIX_INTERFACEPREFIX", "CLUSTER_TYPE", "DATASTORE_TYPE"}

func parseWorkload(b []byte) (model.Component, error) {
	var o struct {
		Metadata struct {
			ObjectMeta
			Generation int64 `json:"generation"`
		} `json:"metadata"`
		Spec struct {
			Replicas *int `json:"replicas"`
			Template struct {
				Spec struct {
					Containers []struct {
						Image string `json:"image"`
						Env   []struct {
							Name  string `json:"name"`
							Value string `json:"value"`
						} `json:"env"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
		Status struct {
			ObservedGeneration     int64 `json:"observedGeneration"`
			UpdatedNumberScheduled int   `json:"updatedNumberScheduled"`
			UpdatedReplicas        int   `json:"updatedReplicas"`
			DesiredNumberScheduled int   `json:"desiredNumberScheduled"`
			NumberReady            int   `json:"numberReady"`
			ReadyReplicas          int   `json:"readyReplicas"`
		} `json:"status"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return model.Component{}, fmt.Errorf("workload %s: %w", o.Metadata.Name, err)
	}
	c := model.Component{
		Name: o.Metadata.Name, Wanted: o.Status.DesiredNumberScheduled,
		Ready: max(o.Status.NumberReady, o.Status.ReadyReplicas), Settings: map[string]string{},
	}
	if o.Spec.Replicas != nil {
		c.Wanted = *o.Spec.Replicas
	}
	c.Old = max(0, c.Wanted-max(o.Status.UpdatedNumberScheduled, o.Status.UpdatedReplicas))
	if o.Status.ObservedGeneration < o.Metadata.Generation {
		c.Old = max(c.Old, c.Wanted, 1)
	}
	for _, k := range o.Spec.Template.Spec.Containers {
		image, _, _ := strings.Cut(k.Image, "@")
		if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') && c.Version == "" {
			c.Version = image[i+1:]
		}
		for _, e := range k.Env {
			for _, s := range settings {
				if e.Name == s && e.Value != "" {
					c.Settings[s] = e.Value
				}
			}
		}
	}
	return c, nil
}
