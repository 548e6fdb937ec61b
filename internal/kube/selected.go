package kube

import (
	"context"
	"net/url"
)

// Selected returns the names (NAMESPACE/NAME) of the pods with these labels.
func (c *Client) Selected(ctx context.Context, namespace, selector string) (map[string]bool, error) {
	path := allPods
	if namespace != "" {
		path = "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods"
	}
	pods, _, err := c.pods(ctx, path, url.Values{"labelSelector": {selector}}, acceptMetaProto)
	if err != nil {
		return nil, err
	}
	out := make(map[string]bool, len(pods))
	for i := range pods {
		out[pods[i].Namespace+"/"+pods[i].Name] = true
	}
	return out, nil
}
