package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A workload is what is used of a DaemonSet or Deployment.
type workload struct {
	Metadata struct {
		ObjectMeta
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Init       []container `json:"initContainers"`
				Containers []container `json:"containers"`
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

type container struct {
	Name  string     `json:"name"`
	Image string     `json:"image"`
	Env   []variable `json:"env"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  struct {
		ConfigMap *struct {
			Name string `json:"name"`
			Key  string `json:"key"`
		} `json:"configMapKeyRef"`
	} `json:"valueFrom"`
}

// settings are the environment variables that select Calico's behaviour; none is a secret.
var settings = map[string]bool{
	"USE_POD_CIDR": true, "CALICO_NETWORKING_BACKEND": true, "FELIX_INTERFACEPREFIX": true, "FELIX_BPFENABLED": true, "CLUSTER_TYPE": true, "DATASTORE_TYPE": true,
	"CALICO_API_GROUP": true,
}

// networkConfig is the variable of the container that writes the CNI configuration. Of its value
// only the IPAM plugin of Calico's entry is kept.
const networkConfig = "CNI_NETWORK_CONFIG"

func parseWorkload(b []byte) (workload, error) {
	var w workload
	if err := json.Unmarshal(b, &w); err != nil {
		return w, fmt.Errorf("workload %s: %w", w.Metadata.Name, err)
	}
	return w, nil
}

// app is the value of its label k8s-app, which is Calico's name for it.
func (w *workload) app() string { return w.Spec.Template.Metadata.Labels["k8s-app"] }

func (w *workload) component(ctx context.Context, from configMaps) (model.Component, error) {
	c := model.Component{
		Name: w.Metadata.Name, Wanted: w.Status.DesiredNumberScheduled,
		Ready: max(w.Status.NumberReady, w.Status.ReadyReplicas), Settings: map[string]string{},
	}
	if w.Spec.Replicas != nil {
		c.Wanted = *w.Spec.Replicas
	}
	c.Old = max(0, c.Wanted-max(w.Status.UpdatedNumberScheduled, w.Status.UpdatedReplicas))
	if w.Status.ObservedGeneration < w.Metadata.Generation {
		c.Old = max(c.Old, c.Wanted, 1)
	}
	// Calico's containers have such names everywhere. Canal has flannel beside them.
	for _, k := range w.Spec.Template.Spec.Containers {
		if strings.HasPrefix(k.Name, "calico-") {
			c.Version = tag(k.Image)
		}
	}
	for _, k := range append(w.Spec.Template.Spec.Init, w.Spec.Template.Spec.Containers...) {
		for _, e := range k.Env {
			if !settings[e.Name] && e.Name != networkConfig {
				continue
			}
			v, err := from.value(ctx, w.Metadata.Namespace, e)
			if err != nil {
				return c, err
			}
			switch {
			case v == "":
			case e.Name != networkConfig:
				c.Settings[e.Name] = v
			default:
				if plugin := ipamPlugin(v); plugin != "" {
					c.Settings["ipam-plugin"] = plugin
				}
			}
		}
	}
	return c, nil
}

// tag is the tag of an image; empty if it has none.
func tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[i+1:]
	}
	return ""
}

// ipamPlugin finds the IPAM plugin of Calico's entry in a template of a CNI configuration, which
// has words in place of numbers.
func ipamPlugin(template string) string {
	template = strings.NewReplacer("__CNI_MTU__", "0", "__KUBERNETES_SERVICE_PORT__", "0").Replace(template)
	type entry struct {
		Type string `json:"type"`
		IPAM struct {
			Type string `json:"type"`
		} `json:"ipam"`
	}
	var list struct {
		entry
		Plugins []entry `json:"plugins"`
	}
	if json.Unmarshal([]byte(template), &list) != nil {
		return ""
	}
	for _, p := range append(list.Plugins, list.entry) {
		if p.Type == "calico" {
			return p.IPAM.Type
		}
	}
	return ""
}

// configMaps resolves the variables that come from ConfigMaps.
type configMaps struct {
	client *Client
	read   map[string]map[string]string // by namespace/name
}

// value is the value of a variable; empty if its ConfigMap or key does not exist.
func (m configMaps) value(ctx context.Context, namespace string, e variable) (string, error) {
	ref := e.From.ConfigMap
	if e.Value != "" || ref == nil {
		return e.Value, nil
	}
	key := namespace + "/" + ref.Name
	if _, ok := m.read[key]; !ok {
		raw, _, err := m.client.Get(ctx, "/api/v1/namespaces/"+url.PathEscape(namespace)+"/configmaps/"+url.PathEscape(ref.Name))
		var o struct {
			Data map[string]string `json:"data"`
		}
		switch {
		case errors.Is(err, errNotFound):
		case err != nil:
			return "", err
		default:
			if err := json.Unmarshal(raw, &o); err != nil {
				return "", fmt.Errorf("ConfigMap %s: %w", key, err)
			}
		}
		m.read[key] = o.Data
	}
	return m.read[key][ref.Key], nil
}
