package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A Follower reports changes of pods, nodes, services and machines. A table whose list has
// no revision is not followed.
type Follower struct{ Client *Client }

var _ observe.Follower = Follower{}

// Tables lists what is followed.
func (Follower) Tables() []model.Table {
	return append(Pods{}.Tables(), model.Nodes, model.Services, model.VMs)
}

// Follow watches all of them concurrently.
func (f Follower) Follow(ctx context.Context, since map[model.Table]string, tell func([]observe.Change)) error {
	g := observe.Gather(tell)
	defer g.Flush()
	streams := []func(context.Context) error{observe.UntilEnd}
	add := func(t model.Table, path string, query url.Values, wire wire, each observe.Heard) {
		if since[t] != "" {
			w := watch{path: path, query: query, wire: wire, last: since[t], each: each}
			streams = append(streams, func(ctx context.Context) error { return f.Client.watch(ctx, w) })
		}
	}
	add(model.Pods, allPods, nil, protoWire, hearPods(g))
	add(model.Nodes, allNodes, nil, jsonWire, hear(g, ParseNode, (*model.Node).Ref, func(n *model.Node) string { return n.Revision }))
	add(model.Services, allServices, f.Client.loadBalancers(), jsonWire, hearServices(g))
	for i, kind := range machines {
		other := machines[1-i]
		add(model.VMs, machinesPath+kind, nil, jsonWire, func(object []byte, gone bool) (string, error) { return f.hearMachine(ctx, g, other, object, gone) })
	}
	return observe.Together(ctx, streams...)
}

const (
	allNodes     = "/api/v1/nodes"
	allServices  = "/api/v1/services"
	machinesPath = "/apis/kubevirt.io/v1/"
)

var machines = [...]string{"virtualmachines", "virtualmachineinstances"}

// hear turns each event into a change of one row.
func hear[T any](g *observe.Gatherer, parse func([]byte) (T, error), ref func(*T) model.Ref, revision func(*T) string) observe.Heard {
	return func(object []byte, gone bool) (string, error) {
		c := observe.Change{At: observe.Now()}
		row, err := parse(object)
		if err != nil {
			return "", err
		}
		c.Ref = ref(&row)
		if !gone {
			c.Row = &row
		}
		g.Add(c)
		return revision(&row), nil
	}
}

// hearServices takes a service that is no longer of type LoadBalancer for gone.
func hearServices(g *observe.Gatherer) observe.Heard {
	return func(object []byte, gone bool) (string, error) {
		s, is, err := parseService(object)
		if err != nil {
			return "", err
		}
		c := observe.Change{At: observe.Now(), Ref: s.Ref()}
		if is && !gone {
			c.Row = &s
		}
		g.Add(c)
		return s.Revision, nil
	}
}

// maxInterned bounds for how many pods equal strings are shared: names of owners come and
// go as long as we follow.
const maxInterned = 20_000

func hearPods(g *observe.Gatherer) observe.Heard {
	var k podPicker
	left := 0
	return hear(g, func(object []byte) (model.Pod, error) {
		if left == 0 {
			k, left = podPicker{intern: model.Interner{}}, maxInterned
		}
		left--
		p, err := k.pick(object)
		if err != nil {
			return p, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
		}
		return p, nil
	}, (*model.Pod).Ref, func(p *model.Pod) string { return p.Revision })
}

// hearMachine reports a change of a machine or of its instance, which are one row: if one
// is deleted the other may still exist and is read.
func (f Follower) hearMachine(ctx context.Context, g *observe.Gatherer, other string, object []byte, gone bool) (string, error) {
	c := observe.Change{At: observe.Now()}
	row, err := parseMachine(object)
	if err != nil {
		return "", err
	}
	revision := row.Revision
	c.Ref = row.Ref()
	if gone {
		object, _, err = f.Client.Get(ctx, machinesPath+"namespaces/"+row.Namespace+"/"+other+"/"+row.Name)
		gone = errors.Is(err, errNotFound)
		switch {
		case gone:
		case err != nil:
			return "", &observe.Broken{Err: err}
		default:
			if row, err = parseMachine(object); err != nil {
				return "", err
			}
		}
	}
	if !gone {
		c.Row = &row
	}
	g.Add(c)
	return revision, nil
}

func parseMachine(object []byte) (model.VM, error) {
	var o struct {
		Metadata ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return model.VM{}, fmt.Errorf("machine %s/%s: %w", o.Metadata.Namespace, o.Metadata.Name, err)
	}
	m := &o.Metadata
	return model.VM{Namespace: m.Namespace, Name: m.Name, Revision: m.ResourceVersion}, nil
}
