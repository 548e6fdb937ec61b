package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// AgentPorts matches the ports that an agent may listen on. Whoever forges a pod must not direct
// requests to another port of a node, such as the kubelet's.
const AgentPorts = `947[0-9]`

func (p AgentPod) port() int { return cmp.Or(p.Port, agentPort) }

// portIn reads the port of the agents of a namespace from their pods: all of a DaemonSet have the
// same. What cannot be read, or is not one of theirs, counts as the usual port: agents that do not
// answer there are reported as such.
func (c *Client) portIn(ctx context.Context, namespace string) int {
	if CheckNames(namespace) != nil {
		return agentPort
	}
	q := url.Values{"labelSelector": {agentLabels}, "limit": {"50"}}
	resp, err := c.send(ctx, c.http, Request{Method: http.MethodGet, Path: "/api/v1/namespaces/" + namespace + "/pods", Query: q, Accept: "application/json"})
	if err != nil {
		return agentPort
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct{ Items []portPod }
	if json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&list) != nil {
		return agentPort
	}
	for i := range list.Items {
		if n := list.Items[i].port(); n != 0 {
			return n
		}
	}
	return agentPort
}

// A portPod has the fields of a pod that say where an agent listens.
type portPod struct {
	Spec struct {
		HostNetwork bool
		NodeName    string
		Containers  []struct {
			Name  string
			Ports []struct {
				Name          string
				ContainerPort int
			}
		}
	}
	Status struct{ Phase string }
}

// port is where the agent in a pod listens; 0 if the pod is no agent, or that port is none of theirs.
func (p *portPod) port() int {
	if !p.Spec.HostNetwork || p.Spec.NodeName == "" || p.Status.Phase == "Failed" || p.Status.Phase == "Succeeded" {
		return 0
	}
	for _, k := range p.Spec.Containers {
		for _, at := range k.Ports {
			if k.Name == "agent" && at.Name == "https" && at.ContainerPort >= 9470 && at.ContainerPort <= 9479 {
				return at.ContainerPort
			}
		}
	}
	return 0
}
