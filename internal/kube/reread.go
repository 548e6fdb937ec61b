package kube

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Rereader rereads pods, nodes and services.
type Rereader struct{ Client *Client }

// Reread reads those of the refs that belong to Kubernetes: pods, nodes and services by
// name, addresses by the pods whose status has them, and all pods of a node.
func (l Rereader) Reread(ctx context.Context, refs []model.Ref) (observe.Reread, error) {
	var out observe.Reread
	var mine []model.Ref
	pods := 0
	for _, r := range refs {
		switch r.Kind {
		case model.KindPodsOn:
			mine = append(mine, r)
		case model.KindPod, model.KindAddress:
			pods++
			mine = append(mine, r)
		case model.KindNode, model.KindService:
			mine = append(mine, r)
		default:
		}
	}
	if pods > observe.ListAbove {
		all, a, err := l.Client.pods(ctx, allPods, nil, acceptProto)
		if err != nil {
			return out, err
		}
		out.Rows.Pods, out.At = all, a.At
		rest := mine[:0]
		for _, r := range mine {
			if r.Kind == model.KindPod || r.Kind == model.KindAddress {
				out.Read = append(out.Read, r)
			} else {
				rest = append(rest, r)
			}
		}
		mine = rest
	}
	err := l.each(ctx, mine, &out)
	return out, err
}

func (l Rereader) each(ctx context.Context, refs []model.Ref, out *observe.Reread) error {
	err := observe.Each(refs, func(r model.Ref, lock sync.Locker) error {
		one, err := l.one(ctx, r)
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		out.Rows.Pods = append(out.Rows.Pods, one.Rows.Pods...)
		out.Rows.Nodes = append(out.Rows.Nodes, one.Rows.Nodes...)
		out.Rows.Services = append(out.Rows.Services, one.Rows.Services...)
		out.Note(one.At, r)
		return nil
	})
	out.Rows.Pods = once(out.Rows.Pods, (*model.Pod).Ref)
	return err
}

func (l Rereader) one(ctx context.Context, r model.Ref) (look observe.Reread, err error) {
	ns, name, _ := strings.Cut(r.Name, "/")
	switch r.Kind {
	case model.KindPod:
		// As a list of one: a list has a revision and a time even if it is empty.
		var a observe.ReadInfo
		look.Rows.Pods, a, err = l.Client.podsOf(ctx, ns, "metadata.name="+name)
		look.At = a.At
	case model.KindAddress:
		var a observe.ReadInfo
		look.Rows.Pods, a, err = l.Client.podsOf(ctx, "", "status.podIP="+r.Name)
		look.At = a.At
	case model.KindPodsOn:
		var a observe.ReadInfo
		look.Rows.Pods, a, err = l.Client.podsOf(ctx, "", "spec.nodeName="+r.Name)
		look.At = a.At
	case model.KindNode:
		var b []byte
		b, look.At, err = l.Client.Get(ctx, "/api/v1/nodes/"+url.PathEscape(r.Name))
		if err == nil {
			var n model.Node
			n, err = ParseNode(b)
			look.Rows.Nodes = []model.Node{n}
		}
	case model.KindService:
		var b []byte
		b, look.At, err = l.Client.Get(ctx, "/api/v1/namespaces/"+url.PathEscape(ns)+"/services/"+url.PathEscape(name))
		if err == nil {
			var s model.Service
			s, _, err = parseService(b) // of whatever type: what is there is not gone
			look.Rows.Services = []model.Service{s}
		}
	default:
	}
	if errors.Is(err, errNotFound) {
		err = nil
	}
	return look, err
}

func (c *Client) podsOf(ctx context.Context, namespace, selector string) ([]model.Pod, observe.ReadInfo, error) {
	path := allPods
	if namespace != "" {
		path = "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods"
	}
	return c.pods(ctx, path, url.Values{"fieldSelector": {selector}}, acceptProto)
}

// once keeps the last of rows with the same name.
func once[T any](rows []T, ref func(*T) model.Ref) []T {
	at := map[model.Ref]int{}
	out := rows[:0]
	for i := range rows {
		r := ref(&rows[i])
		if j, ok := at[r]; ok {
			out[j] = rows[i]
			continue
		}
		at[r] = len(out)
		out = append(out, rows[i])
	}
	return out
}
