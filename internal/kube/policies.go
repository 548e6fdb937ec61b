package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Policies are the policies that may concern a pod. Nobody evaluates them here.
type Policies struct {
	Select []string // NetworkPolicies that select it, by name
	Calico []string // policies of Calico in its namespace, and global ones: their selectors are not evaluated
}

// PoliciesOf reads the policies that may concern a pod, with the labels that it has. group is the API
// group and version of Calico's custom resources; empty if Calico's policies are elsewhere.
func (c *Client) PoliciesOf(ctx context.Context, namespace, name, group string) (Policies, error) {
	var out Policies
	if err := CheckNames(namespace, name); err != nil {
		return out, err
	}
	in := "/namespaces/" + url.PathEscape(namespace)
	b, _, err := c.Get(ctx, "/api/v1"+in+"/pods/"+url.PathEscape(name))
	if err != nil {
		return out, err
	}
	var pod struct {
		Metadata struct {
			Labels labels.Set `json:"labels"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(b, &pod); err != nil {
		return out, fmt.Errorf("pod %s/%s: %w", namespace, name, err)
	}
	if _, err := c.List(ctx, "/apis/networking.k8s.io/v1"+in+"/networkpolicies", nil, func(item []byte) error {
		policy, selects, err := selectsPod(item, pod.Metadata.Labels)
		if selects {
			out.Select = append(out.Select, policy)
		}
		return err
	}); err != nil {
		return out, err
	}
	for _, path := range []string{in + "/networkpolicies", "/globalnetworkpolicies"} {
		if group == "" {
			break
		}
		_, err := c.List(ctx, "/apis/"+group+path, nil, func(item []byte) error {
			var o struct {
				Metadata ObjectMeta `json:"metadata"`
			}
			err := json.Unmarshal(item, &o)
			out.Calico = append(out.Calico, o.Metadata.Name)
			return err
		})
		if err != nil && !errors.Is(err, errNotFound) {
			return out, err
		}
	}
	slices.Sort(out.Select)
	slices.Sort(out.Calico)
	return out, nil
}

// selectsPod reports whether a NetworkPolicy selects pods with these labels.
func selectsPod(item []byte, has labels.Set) (name string, selects bool, err error) {
	var o struct {
		Metadata ObjectMeta `json:"metadata"`
		Spec     struct {
			PodSelector metav1.LabelSelector `json:"podSelector"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(item, &o); err != nil {
		return "", false, fmt.Errorf("network policy %s: %w", o.Metadata.Name, err)
	}
	s, err := metav1.LabelSelectorAsSelector(&o.Spec.PodSelector)
	if err != nil {
		return o.Metadata.Name, false, fmt.Errorf("network policy %s: %w", o.Metadata.Name, err)
	}
	return o.Metadata.Name, s.Matches(has), nil
}
