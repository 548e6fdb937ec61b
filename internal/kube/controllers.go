package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"plumbline.dev/plumbline/internal/model"
)

const (
	controllerLabels = "app.kubernetes.io/name=plumbline,app.kubernetes.io/component=controller"
	controllerPort   = 9479
	maxRows          = 4 << 30 // of all findings of a cluster
)

// Controllers finds the pods of the controller in a namespace, those that are ready first.
func (c *Client) Controllers(ctx context.Context, namespace string) ([]AgentPod, error) {
	pods, _, err := c.PodsWithLabels(ctx, namespace, controllerLabels)
	if err != nil {
		return nil, fmt.Errorf("find the controller: %w", err)
	}
	var ready, others []AgentPod
	for i := range pods {
		p := AgentPod{Namespace: pods[i].Namespace, Name: pods[i].Name, Port: controllerPort, Ready: pods[i].Ready}
		switch {
		case pods[i].Phase != model.Running:
		case p.Ready:
			ready = append(ready, p)
		default:
			others = append(others, p)
		}
	}
	return append(ready, others...), nil
}

// Controller asks a pod of the controller, as Proxy does.
func (c *Client) Controller(ctx context.Context, pod AgentPod, path string, query url.Values, head http.Header) (io.ReadCloser, error) {
	body, _, err := c.proxy(ctx, pod, path, query, head, pod.Namespace+"/"+pod.Name, maxRows)
	return body, err
}

// ControllerPage asks a pod of the controller for a page of its UI, and gives the answer whatever its status.
func (c *Client) ControllerPage(ctx context.Context, pod AgentPod, path string, query url.Values, head http.Header) (status int, body io.ReadCloser, err error) {
	at, err := ProxyPath(pod, path)
	if err != nil {
		return 0, nil, err
	}
	resp, err := c.once(ctx, c.http, Request{Method: http.MethodGet, Path: at, Query: query, Accept: "*/*", Header: head})
	if err != nil {
		return 0, nil, fmt.Errorf("ask %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return resp.StatusCode, &bounded{body: resp.Body, left: maxAnswer}, nil
}
