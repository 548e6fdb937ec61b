package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

func leasesOf(namespace string) string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases"
}

type leaseObject struct {
	Metadata ObjectMeta `json:"metadata"`
}

// Leases lists the Leases of a namespace, with their annotations.
func (c *Client) Leases(ctx context.Context, namespace string, each func(name string, annotations map[string]string)) error {
	if err := CheckNames(namespace); err != nil {
		return err
	}
	_, err := c.List(ctx, leasesOf(namespace), nil, func(item []byte) error {
		var o leaseObject
		if err := json.Unmarshal(item, &o); err != nil {
			return err
		}
		each(o.Metadata.Name, o.Metadata.Annotations)
		return nil
	})
	return err
}

// Lease reads the annotations of one Lease.
func (c *Client) Lease(ctx context.Context, namespace, name string) (map[string]string, error) {
	if err := CheckNames(namespace, name); err != nil {
		return nil, err
	}
	b, _, err := c.Get(ctx, leasesOf(namespace)+"/"+name)
	if err != nil {
		return nil, err
	}
	var o leaseObject
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("read lease %s: %w", name, err)
	}
	return o.Metadata.Annotations, nil
}

// Denies returns an error unless the ValidatingAdmissionPolicy of this name is bound, for all
// objects, so that it denies.
func (c *Client) Denies(ctx context.Context, policy string) error {
	if err := CheckNames(policy); err != nil {
		return err
	}
	const at = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
	var p, b struct {
		Spec struct {
			FailurePolicy, PolicyName string
			ValidationActions         []string
			MatchResources            json.RawMessage
		}
	}
	for _, o := range []struct {
		path string
		into any
	}{{at + "ies/" + policy, &p}, {at + "ybindings/" + policy, &b}} {
		body, _, err := c.Get(ctx, o.path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, o.into); err != nil {
			return fmt.Errorf("read %s: %w", o.path, err)
		}
	}
	if p.Spec.FailurePolicy != "Fail" || b.Spec.PolicyName != policy || !slices.Contains(b.Spec.ValidationActions, "Deny") || b.Spec.MatchResources != nil {
		return fmt.Errorf("policy %s does not deny everything that it should", policy)
	}
	return nil
}
