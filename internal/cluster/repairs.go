package cluster

import (
	"context"
	"encoding/json"
	"errors"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/observe"
)

// Repairs is what is known of repairs of a cluster: the journals of this machine, and the policies of its controller.
type Repairs struct {
	Journals []journal.Summary
	Policies []v1alpha1.RepairPolicy
	Unread   []string // what could not be read, and why
}

// RepairsOf reads them.
func RepairsOf(ctx context.Context, o Options, guid string) Repairs {
	var out Repairs
	var err error
	if out.Journals, err = journal.List(o.StateDir, guid); err != nil {
		out.Unread = append(out.Unread, "journals: "+err.Error())
	}
	if out.Policies, err = policiesOf(ctx, o); err != nil {
		out.Unread = append(out.Unread, "repair policies: "+err.Error())
	}
	return out
}

func policiesOf(ctx context.Context, o Options) (all []v1alpha1.RepairPolicy, err error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	_, err = c.client.List(ctx, "/apis/plumbline.dev/v1alpha1/repairpolicies", nil, func(item []byte) error {
		var one v1alpha1.RepairPolicy
		if err := json.Unmarshal(item, &one); err != nil || len(all) == v1alpha1.MaxPolicies {
			return err
		}
		all = append(all, one)
		return nil
	})
	if errors.Is(err, observe.ErrNotThere) {
		return nil, nil // no controller is installed
	}
	return all, err
}
