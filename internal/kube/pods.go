package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Pods reads all pods.
type Pods struct {
	Client *Client
	Quick  bool // only metadata, and what selectors tell
}

// Name is the name in progress output.
func (Pods) Name() string { return "pods" }

// Tables lists the columns that a pod has.
func (Pods) Tables() []model.Table {
	return []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus}
}

// Collect reads pods in protobuf format, one at a time.
func (c Pods) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	if c.Quick {
		return c.quick(ctx, b)
	}
	pods, a, err := c.Client.pods(ctx, allPods, nil, acceptProto)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Pods = pods })
	return a, nil
}

const allPods = "/api/v1/pods"

func (c *Client) pods(ctx context.Context, path string, query url.Values, accept string) ([]model.Pod, observe.ReadInfo, error) {
	var out model.Gather[model.Pod]
	k := podPicker{intern: model.Interner{}, keep: &podArena{}}
	a, err := c.list(ctx, path, query, accept, eachProto, func(item []byte) error {
		p, err := k.pick(item)
		if err != nil {
			return fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
		}
		out.Add(p)
		return nil
	})
	return out.Rows(), a, err
}

// PodsWithLabels reads the pods of a namespace, or of all, that a selector matches.
func (c *Client) PodsWithLabels(ctx context.Context, namespace, selector string) ([]model.Pod, observe.ReadInfo, error) {
	path := allPods
	if namespace != "" {
		if err := CheckNames(namespace); err != nil {
			return nil, observe.ReadInfo{}, err
		}
		path = "/api/v1/namespaces/" + namespace + "/pods"
	}
	return c.pods(ctx, path, url.Values{"labelSelector": {selector}}, acceptProto)
}

// PodLog reads the log of a container, which must not be longer than an agent's answer.
func (c *Client) PodLog(ctx context.Context, namespace, name, container string) ([]byte, error) {
	if err := CheckNames(namespace, name); err != nil {
		return nil, err
	}
	path := "/api/v1/namespaces/" + namespace + "/pods/" + name + "/log"
	q := url.Values{"container": {container}, "limitBytes": {strconv.Itoa(maxAnswer + 1)}}
	resp, err := c.send(ctx, c.http, Request{Method: http.MethodGet, Path: path, Query: q, Accept: "*/*"})
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(&bounded{body: resp.Body, left: maxAnswer})
	return b, errors.Join(err, resp.Body.Close())
}

// quick reads metadata. Which pods have finished and which use the host's network,
// selectors tell at little cost; nodes and addresses are not read.
func (c Pods) quick(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	pods, a, err := c.Client.pods(ctx, allPods, nil, acceptMetaProto)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	at := make(map[string]int, len(pods))
	for i := range pods {
		at[pods[i].UID] = i
	}
	mark := func(selector string, set func(*model.Pod)) error {
		some, _, err := c.Client.pods(ctx, allPods, url.Values{"fieldSelector": {selector}}, acceptMetaProto)
		for i := range some {
			if j, ok := at[some[i].UID]; ok {
				set(&pods[j])
			}
		}
		return err
	}
	for i := range pods {
		pods[i].Phase = model.Running
	}
	for _, phase := range []model.Phase{model.Pending, model.Succeeded, model.Failed} {
		if err := mark("status.phase="+string(phase), func(p *model.Pod) { p.Phase = phase }); err != nil {
			return observe.ReadInfo{}, err
		}
	}
	if err := mark("spec.hostNetwork=true", func(p *model.Pod) { p.HostNetwork = true }); err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Pods = pods })
	a.Only = []model.Table{model.Pods, model.PodPhase}
	return a, nil
}
