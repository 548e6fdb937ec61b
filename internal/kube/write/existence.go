package write

import (
	"context"
	"encoding/json"
	"errors"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

// node returns whether the node is ready, and its boot ID.
func (s PodStore) node(ctx context.Context, r model.Ref) (model.Object, error) {
	if err := kube.CheckNames(r.Name); err != nil {
		return model.Object{}, err
	}
	return s.get(ctx, r, "/api/v1/nodes/"+r.Name, func(b []byte) (model.Object, error) {
		n, err := kube.ParseNode(b)
		if err != nil {
			return model.Object{}, err
		}
		m := kube.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.Revision}
		return object(model.KindNode, m, n.Body())
	})
}

func (s PodStore) service(ctx context.Context, r model.Ref) (model.Object, error) {
	ns, name, err := split(r.Name)
	if err != nil {
		return model.Object{}, err
	}
	return s.get(ctx, r, "/api/v1/namespaces/"+ns+"/services/"+name, exists(model.KindService))
}

// machine exists if the VirtualMachine or a VirtualMachineInstance of its name exists.
// Without KubeVirt there are none.
func (s PodStore) machine(ctx context.Context, r model.Ref) (model.Object, error) {
	ns, name, err := split(r.Name)
	if err != nil {
		return model.Object{}, err
	}
	if has, err := s.Writer.serves(ctx, "kubevirt.io"); err != nil || !has {
		return model.Object{Ref: r}, err
	}
	for _, kind := range []string{"virtualmachines", "virtualmachineinstances"} {
		o, err := s.get(ctx, r, "/apis/kubevirt.io/v1/namespaces/"+ns+"/"+kind+"/"+name, exists(model.KindVM))
		if err != nil || o.There() {
			return o, err
		}
	}
	return model.Object{Ref: r}, nil
}

func exists(kind model.Kind) func([]byte) (model.Object, error) {
	return func(b []byte) (model.Object, error) {
		var o struct {
			Metadata kube.ObjectMeta `json:"metadata"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return model.Object{}, err
		}
		return object(kind, o.Metadata, nil)
	}
}

// serves reports whether the API server has a group, from its list of groups.
func (w *Writer) serves(ctx context.Context, group string) (bool, error) {
	a, there, err := w.read(ctx, "/apis")
	if err != nil {
		return false, err
	}
	var l struct {
		Kind   string                  `json:"kind"`
		Groups []struct{ Name string } `json:"groups"`
	}
	if json.Unmarshal(a.body, &l) != nil || !there || l.Kind != "APIGroupList" {
		return false, errors.New("read /apis: the answer is not a list of groups")
	}
	for _, g := range l.Groups {
		if g.Name == group {
			return true, nil
		}
	}
	return false, nil
}
