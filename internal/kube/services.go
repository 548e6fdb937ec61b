package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Services reads the services of type LoadBalancer.
type Services struct{ Client *Client }

// Name is the name in progress output.
func (Services) Name() string { return "services" }

// Tables lists the tables that it fills.
func (Services) Tables() []model.Table { return []model.Table{model.Services} }

// Collect reads services.
func (c Services) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	out, a, err := c.list(ctx)
	if err != nil && unknownSelector(err) {
		c.Client.noServiceType.Store(true)
		out, a, err = c.list(ctx)
	}
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Services = out })
	a.Rows = len(out)
	return a, nil
}

func (c Services) list(ctx context.Context) (out []model.Service, a observe.ReadInfo, err error) {
	a, err = c.Client.List(ctx, allServices, c.Client.loadBalancers(), func(item []byte) error {
		s, is, err := parseService(item)
		if is {
			out = append(out, s)
		}
		return err
	})
	return out, a, err
}

// unknownSelector reports that the API server does not know the selector, as Kubernetes before 1.31.
func unknownSelector(err error) bool {
	said := err.Error()
	return strings.Contains(said, `"spec.type" is not a known field selector`) || strings.Contains(said, "field label not supported: spec.type")
}

// loadBalancers selects services of type LoadBalancer where the API server can; the caller must
// not take others anyway.
func (c *Client) loadBalancers() url.Values {
	if c.noServiceType.Load() {
		return nil
	}
	return url.Values{"fieldSelector": {"spec.type=LoadBalancer"}}
}

// parseService reads a service, and whether it is of type LoadBalancer.
func parseService(b []byte) (s model.Service, is bool, err error) {
	var o struct {
		Metadata ObjectMeta `json:"metadata"`
		Spec     struct {
			Type              string `json:"type"`
			LoadBalancerClass string `json:"loadBalancerClass"`
		} `json:"spec"`
		Status struct {
			LoadBalancer struct {
				Ingress []struct {
					IP string `json:"ip"`
				} `json:"ingress"`
			} `json:"loadBalancer"`
		} `json:"status"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return s, false, fmt.Errorf("service %s/%s: %w", o.Metadata.Namespace, o.Metadata.Name, err)
	}
	s = model.Service{
		Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Revision: o.Metadata.ResourceVersion,
		Class: o.Spec.LoadBalancerClass,
	}
	for _, i := range o.Status.LoadBalancer.Ingress {
		if ip, err := netip.ParseAddr(i.IP); err == nil {
			s.IPs = append(s.IPs, ip.Unmap())
		}
	}
	return s, o.Spec.Type == "LoadBalancer", nil
}

// VMs reads KubeVirt's machines, and instances without a machine.
type VMs struct{ Client *Client }

// Name is the name in progress output.
func (VMs) Name() string { return "vms" }

// Tables lists the tables that it fills.
func (VMs) Tables() []model.Table { return []model.Table{model.VMs} }

// Collect reads machines, if KubeVirt is installed.
func (c VMs) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	if _, err := c.Client.Resources(ctx, "kubevirt.io/v1"); err != nil {
		if errors.Is(err, errNotFound) {
			return observe.ReadInfo{}, observe.ErrNotThere
		}
		return observe.ReadInfo{}, err
	}
	var out []model.VM
	var first observe.ReadInfo
	for _, kind := range []string{"virtualmachines", "virtualmachineinstances"} {
		a, err := c.Client.List(ctx, "/apis/kubevirt.io/v1/"+kind, nil, func(item []byte) error {
			var o struct {
				Metadata ObjectMeta `json:"metadata"`
			}
			if err := json.Unmarshal(item, &o); err != nil {
				return fmt.Errorf("machine %s/%s: %w", o.Metadata.Namespace, o.Metadata.Name, err)
			}
			out = append(out, model.VM{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Revision: o.Metadata.ResourceVersion})
			return nil
		})
		if err != nil {
			return observe.ReadInfo{}, err
		}
		if first.At.IsZero() {
			first = a
		}
	}
	b.Add(func(s *model.Snapshot) { s.VMs = out })
	first.Rows = len(out)
	return first, nil
}
