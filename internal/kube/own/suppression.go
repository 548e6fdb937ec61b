package own

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/kube"
)

// Suppressions gives what people accept, by name. How many more were not read is more than none only where somebody created
// ten times as many as hold.
func (s *Store) Suppressions(ctx context.Context) (all []v1alpha1.Suppression, more int, err error) {
	_, err = s.client.List(ctx, suppressions, nil, func(item []byte) error {
		var one v1alpha1.Suppression
		if len(all) >= 10*v1alpha1.MaxSuppressions || json.Unmarshal(item, &one) != nil {
			more++
			return nil
		}
		all = append(all, one)
		return nil
	})
	return all, more, err
}

// Answer writes the status of a suppression, if it is unchanged since it was read.
func (s *Store) Answer(ctx context.Context, one *v1alpha1.Suppression) error {
	if err := kube.CheckNames(one.Name); err != nil {
		return err
	}
	if one.ResourceVersion == "" {
		return fmt.Errorf("write the status of suppression %s: its revision is not known", one.Name)
	}
	body, err := json.Marshal(one)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return s.send(ctx, kube.Request{Method: http.MethodPut, Path: suppressions + "/" + one.Name + "/status", Body: body}, nil)
}
