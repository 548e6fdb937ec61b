package cluster

import (
	"context"
	"encoding/json"
	"errors"

	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/model"
)

// podJSON reads a pod whole: what of an endpoint comes from it is not in the model.
func (c *Cluster) podJSON(ctx context.Context) func(namespace, name string) (json.RawMessage, error) {
	return func(namespace, name string) (json.RawMessage, error) {
		b, _, err := c.client.Get(ctx, "/api/v1/namespaces/"+namespace+"/pods/"+name)
		return b, err
	}
}

// endpointJSON reads an endpoint whole, in etcd: one that the same node's plugin wrote shows
// how it writes them.
func (c *Cluster) endpointJSON(ctx context.Context) func(namespace, name string) (json.RawMessage, error) {
	return func(namespace, name string) (json.RawMessage, error) {
		e, ok := c.calico.(*calico.Etcd)
		if !ok {
			return nil, errors.New("endpoints are not objects here")
		}
		o, err := e.Store().Get(ctx, model.Ref{Kind: model.KindEndpoint, Name: namespace + "/" + name})
		if err == nil && !o.There() {
			err = errors.New("no such endpoint")
		}
		return o.Body, err
	}
}
