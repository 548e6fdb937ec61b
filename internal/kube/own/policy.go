package own

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/kube"
)

// Policies gives the repair policies, by name, and how many more were not read.
func (s *Store) Policies(ctx context.Context) (all []v1alpha1.RepairPolicy, more int, err error) {
	_, err = s.client.List(ctx, policies, nil, func(item []byte) error {
		var one v1alpha1.RepairPolicy
		if len(all) >= 10*v1alpha1.MaxPolicies || json.Unmarshal(item, &one) != nil {
			more++
			return nil
		}
		all = append(all, one)
		return nil
	})
	return all, more, err
}

// SetPolicyStatus writes the status of a policy, if it is unchanged since it was read.
func (s *Store) SetPolicyStatus(ctx context.Context, p *v1alpha1.RepairPolicy) error {
	if err := kube.CheckNames(p.Name); err != nil {
		return err
	}
	if p.ResourceVersion == "" {
		return fmt.Errorf("write the status of policy %s: its revision is not known", p.Name)
	}
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return s.send(ctx, kube.Request{Method: http.MethodPut, Path: policies + "/" + p.Name + "/status", Body: body}, nil)
}
