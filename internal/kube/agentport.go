package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// AgentPorts matches the ports that an agent may listen on. Whoever forges a pod must not direct
// requests to another port of a node, such as the kubelet's.
const AgentPorts = `947[0-9]`

func (p AgentPod) port() int { return cmp.Or(p.Port, agentPort) }

// portIn reads the port of the agents of a namespace from one of their pods: all of a DaemonSet
// have the same.
func (c *Client) portIn(ctx context.Context, namespace string) (int, error) {
	if err := CheckNames(namespace); err != nil {
		return 0, err
	}
	q := url.Values{"labelSelector": {agentLabels}, "limit": {"1"}}
	resp, err := c.send(ctx, c.http, Request{Method: http.MethodGet, Path: "/api/v1/namespaces/" + namespace + "/pods", Query: q, Accept: "application/json"})
	if err != nil {
		return 0, fmt.Errorf("find the agents' port: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Items []struct {
			Spec struct {
				Containers []struct {
					Name  string
					Ports []struct {
						Name          string
						ContainerPort int
					}
				}
			}
		}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&list); err != nil {
		return 0, fmt.Errorf("find the agents' port: %w", err)
	}
	for i := range list.Items {
		for _, k := range list.Items[i].Spec.Containers {
			for _, p := range k.Ports {
				if k.Name == "agent" && p.Name == "https" {
					return allowedPort(p.ContainerPort)
				}
			}
		}
	}
	return agentPort, nil
}

func allowedPort(n int) (int, error) {
	if n < 9470 || n > 9479 {
		return 0, fmt.Errorf("the agents listen on port %d: only 9470 to 9479 are used", n)
	}
	return n, nil
}
