package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// Constants that package agent has too, which this package does not import.
const (
	AgentNamespace = "plumbline-system"
	agentLabels    = "app.kubernetes.io/name=plumbline,app.kubernetes.io/component=agent"
	agentPort      = 9474 // unless the pods say otherwise
	agentAudience  = "plumbline-agent"
	AgentHeader    = "Plumbline-Token"
	maxAnswer      = 64 << 20
)

// An AgentPod is a pod that runs an agent.
type AgentPod struct {
	Node, Namespace, Name string
	Port                  int // 0: agentPort
	IP                    netip.Addr
	Ready                 bool
	Phase                 model.Phase
}

// Agents finds the agents' pods in a namespace, or without a namespace wherever they are.
// All must be in one namespace: a token for the agents of one namespace must not be sent to
// pods of another, which anybody may have labelled as agents. For the same reason a pod
// without hostNetwork is not an agent: few users may create one with it.
func (c *Client) Agents(ctx context.Context, namespace string) ([]AgentPod, error) {
	if namespace != "" {
		return c.agentsIn(ctx, namespace)
	}
	usual, err := c.agentsIn(ctx, AgentNamespace)
	if err != nil || len(usual) > 0 {
		return usual, err
	}
	all, err := c.agentsIn(ctx, "")
	if errors.Is(err, ErrForbidden) {
		return nil, nil // the usual namespace could be read and has none
	}
	return all, errors.Join(err, oneNamespace(all))
}

// namespacesOf returns where the agents are.
func namespacesOf(pods []AgentPod) (in []string) {
	for _, p := range pods {
		in = append(in, p.Namespace)
	}
	slices.Sort(in)
	return slices.Compact(in)
}

func oneNamespace(pods []AgentPod) error {
	if in := namespacesOf(pods); len(in) > 1 {
		return fmt.Errorf("pods with the label of agents are in several namespaces, none of them %s: %s", AgentNamespace, strings.Join(in, ", "))
	}
	return nil
}

// AgentsElsewhere returns the other namespaces that have agents.
func (c *Client) AgentsElsewhere(ctx context.Context, namespace string) ([]string, error) {
	all, err := c.agentsIn(ctx, "")
	return slices.DeleteFunc(namespacesOf(all), func(in string) bool { return in == namespace }), err
}

func (c *Client) agentsIn(ctx context.Context, namespace string) ([]AgentPod, error) {
	pods, _, err := c.PodsWithLabels(ctx, namespace, agentLabels)
	if err != nil {
		return nil, fmt.Errorf("find agents: %w", err)
	}
	out := agentPods(pods)
	if len(out) == 0 {
		return out, nil
	}
	port := c.portIn(ctx, out[0].Namespace)
	for i := range out {
		out[i].Port = port
	}
	return out, nil
}

func agentPods(pods []model.Pod) []AgentPod {
	var out []AgentPod
	for i := range pods {
		p := &pods[i]
		if !p.HostNetwork || p.Node == "" || p.Finished() {
			continue
		}
		a := AgentPod{Node: p.Node, Namespace: p.Namespace, Name: p.Name, Ready: p.Ready, Phase: p.Phase}
		if len(p.IPs) > 0 {
			a.IP = p.IPs[0]
		}
		out = append(out, a)
	}
	return out
}

// Proxy asks an agent through the API server. The caller closes the answer; reading more
// than the limit fails. The headers of a refusal are returned too. The context sets the timeout. The API server removes the caller's
// Authorization header and passes the others on, such as head.
func (c *Client) Proxy(ctx context.Context, pod AgentPod, path string, query url.Values, head http.Header) (io.ReadCloser, http.Header, error) {
	return c.proxy(ctx, pod, path, query, head, "the agent of "+pod.Node, maxAnswer)
}

func (c *Client) proxy(ctx context.Context, pod AgentPod, path string, query url.Values, head http.Header, whom string, most int64) (io.ReadCloser, http.Header, error) {
	at, err := ProxyPath(pod, path)
	if err != nil {
		return nil, nil, err
	}
	// Once: a busy node delays only itself.
	resp, err := c.once(ctx, c.http, Request{Method: http.MethodGet, Path: at, Query: query, Accept: "*/*", Header: head})
	var answered http.Header
	if err == nil {
		answered = resp.Header
		resp, err = accepted(resp)
	}
	if err != nil {
		var long *url.Error // its address tells less than the node's name
		switch {
		case errors.Is(err, errNotFound): // the agent is there, but does not have the path
			err = errors.New(err.Error())
		case errors.As(err, &long):
			err = fmt.Errorf("%w: %w", ErrUnreachable, long.Err)
		}
		return nil, answered, fmt.Errorf("ask %s: %w", whom, err)
	}
	return &bounded{body: resp.Body, left: most}, answered, nil
}

// ProxyPath is the path to an agent through the API server.
func ProxyPath(pod AgentPod, path string) (string, error) {
	if err := CheckNames(pod.Namespace, pod.Name); err != nil {
		return "", err
	}
	path = strings.TrimPrefix(path, "/")
	if slices.Contains(strings.Split(path, "/"), "..") {
		return "", fmt.Errorf("%.80q: .. is not allowed in the path", path)
	}
	return fmt.Sprintf("/api/v1/namespaces/%s/pods/https:%s:%d/proxy/%s", pod.Namespace, pod.Name, pod.port(), path), nil
}
