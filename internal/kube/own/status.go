package own

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"plumbline.dev/plumbline/internal/kube"
)

// list gives the objects at a path, by name: at most so many, and how many more there are or could not be read.
func list[T any](ctx context.Context, s *Store, path string, most int) (all []T, more int, err error) {
	_, err = s.client.List(ctx, path, nil, func(item []byte) error {
		var one T
		if len(all) >= most || json.Unmarshal(item, &one) != nil {
			more++
			return nil
		}
		all = append(all, one)
		return nil
	})
	return all, more, err
}

// setStatus writes the status of an object, if it is unchanged since it was read.
func (s *Store) setStatus(ctx context.Context, path string, one metav1.Object) error {
	if err := kube.CheckNames(one.GetName()); err != nil {
		return err
	}
	if one.GetResourceVersion() == "" {
		return fmt.Errorf("write the status of %s/%s: its revision is not known", path, one.GetName())
	}
	body, err := json.Marshal(one)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return s.send(ctx, kube.Request{Method: http.MethodPut, Path: path + "/" + one.GetName() + "/status", Body: body}, nil)
}
