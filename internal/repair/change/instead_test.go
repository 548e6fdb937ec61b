package change

import (
	"encoding/json"
	"errors"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// Of the two endpoints of a running pod the wrong one is deleted only while the right one exists.
func TestEndpointGoesOnlyWhileTheOtherStays(t *testing.T) {
	t.Parallel()
	const sandbox = "a1a1a1a1a1a1a1a1"
	own := model.Ref{Kind: model.KindEndpoint, Name: "shop/n1-k8s-web-eth0"}
	raw := func(ref model.Ref, node, container string) model.Object {
		body, err := json.Marshal(map[string]any{"spec": map[string]any{"node": node, "pod": "web", "containerID": container}})
		if err != nil {
			t.Fatal(err)
		}
		return model.Object{Ref: ref, Revision: "1", Body: body}
	}
	wrong := raw(model.Ref{Kind: model.KindEndpoint, Name: "shop/n2-k8s-web-eth0"}, "n2", sandbox)
	change := &Endpoint{Container: sandbox, Instead: own}
	s := step{On: wrong.Ref, For: []string{"f"}, Change: change}
	if refs, err := s.Reads(wrong); err != nil || len(refs) != 1 || refs[0] != own {
		t.Fatalf("reads %v, %v", refs, err)
	}
	for name, c := range map[string]struct {
		other model.Object
		want  error
	}{
		"the other is there":            {raw(own, "n1", sandbox), nil},
		"the other is gone":             {model.Object{Ref: own}, ErrMoved},
		"the other is of a new sandbox": {raw(own, "n1", "b2b2b2b2b2b2b2b2"), ErrMoved},
		"the other names the same node": {raw(own, "n2", sandbox), ErrMoved},
	} {
		e, err := s.Edit(Scene{Keep: func(string) bool { return true }, Etcd: true, Live: wrong, Also: map[model.Ref]model.Object{own: c.other}})
		if !errors.Is(err, c.want) || (c.want == nil) != e.Delete {
			t.Errorf("%s: delete %v, %v", name, e.Delete, err)
		}
	}

	lives := &RunningPod{Namespace: "shop", Pod: "web", Node: "n1", Container: sandbox}
	if !change.spares(s.On, lives) {
		t.Error("a sound step is not valid")
	}
	for name, bad := range map[string]struct {
		e  Endpoint
		on model.Ref
		l  *RunningPod
	}{
		"no proof":                  {*change, s.On, nil},
		"another sandbox lives":     {*change, s.On, &RunningPod{Namespace: "shop", Pod: "web", Node: "n1", Container: "b2b2"}},
		"the node's own goes":       {Endpoint{Container: sandbox, Instead: s.On}, own, lives},
		"itself instead of itself":  {Endpoint{Container: sandbox, Instead: s.On}, s.On, lives},
		"something else instead":    {Endpoint{Container: sandbox, Instead: model.Ref{Kind: model.KindPod, Name: "shop/web"}}, s.On, lives},
		"and another one is wanted": {Endpoint{Container: sandbox, Instead: own, Want: json.RawMessage("{}")}, s.On, lives},
	} {
		if bad.e.spares(bad.on, bad.l) {
			t.Errorf("%s: valid", name)
		}
	}
}
