package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

const (
	probePrefix = "plumbline-probe-"
	probeLabels = "app.kubernetes.io/name=plumbline,app.kubernetes.io/component=probe"
	// probeSeconds is after how long the kubelet ends a probe, even if the CLI is gone.
	probeSeconds = 120
	probeLook    = time.Second
)

// A Probe is a short-lived pod that reads a node's state where no agent runs.
type Probe struct {
	Namespace string
	Image     string
	Node      string
	Deadline  time.Duration // for everything; at most, and by default, probeSeconds
}

// RunProbe creates the pod, waits for its end, and returns its output. It always deletes
// the pod. It uses the user's own rights.
func (c *Client) RunProbe(ctx context.Context, p Probe) (said []byte, err error) {
	if err := named(p.Namespace, p.Node); err != nil {
		return nil, err
	}
	body, err := json.Marshal(probePod(p))
	if err != nil {
		return nil, err
	}
	hc, err := c.probe()
	if err != nil {
		return nil, err
	}
	most := probeSeconds * time.Second
	if p.Deadline > 0 {
		most = min(most, p.Deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	pods := "/api/v1/namespaces/" + p.Namespace + "/pods"
	resp, err := c.send(ctx, hc, request{method: http.MethodPost, path: pods, accept: acceptJSON, body: body})
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	made, err := readProbe(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	defer func() {
		// Also after the context has ended.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, c.removeProbe(last, hc, p.Namespace, made.Metadata.Name, made.Metadata.UID))
	}()
	if err := c.probeEnd(ctx, pods+"/"+made.Metadata.Name); err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	said, err = c.probeLog(ctx, pods+"/"+made.Metadata.Name)
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	return said, nil
}

// probeEnd waits until the pod has finished.
func (c *Client) probeEnd(ctx context.Context, path string) error {
	tick := time.NewTicker(probeLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the probe pod did not finish: %w", ctx.Err())
		case <-tick.C:
		}
		b, _, err := c.Get(ctx, path)
		if err != nil {
			return err
		}
		o, err := readProbe(bytes.NewReader(b))
		if err != nil {
			return err
		}
		if done, err := o.ended(); done || err != nil {
			return err
		}
	}
}

func (c *Client) probeLog(ctx context.Context, path string) ([]byte, error) {
	q := url.Values{"container": {"probe"}, "limitBytes": {strconv.Itoa(maxAnswer + 1)}}
	resp, err := c.send(ctx, c.http, request{method: http.MethodGet, path: path + "/log", query: q, accept: "*/*"})
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(&bounded{body: resp.Body, left: maxAnswer})
	return b, errors.Join(err, resp.Body.Close())
}

// RemoveProbes deletes probes that were left behind: those that have ended, and those older
// than a probe can be. It returns how many.
func (c *Client) RemoveProbes(ctx context.Context, namespace string) (int, error) {
	if err := named(namespace); err != nil {
		return 0, err
	}
	hc, err := c.probe()
	if err != nil {
		return 0, err
	}
	pods, seen, err := c.pods(ctx, "/api/v1/namespaces/"+namespace+"/pods", url.Values{"labelSelector": {probeLabels}}, acceptProto)
	if err != nil {
		return 0, fmt.Errorf("find probes: %w", err)
	}
	gone := 0
	var errs []error
	for i := range pods {
		p := &pods[i]
		if !leftBehind(p, model.At(seen.At)) {
			continue
		}
		if err := c.removeProbe(ctx, hc, namespace, p.Name, p.UID); err != nil {
			errs = append(errs, err)
			continue
		}
		gone++
	}
	return gone, errors.Join(errs...)
}

func leftBehind(p *model.Pod, now model.Time) bool {
	return p.Finished() || now.Sub(p.Created) > 2*probeSeconds*time.Second
}

// removeProbe deletes the pod with this UID only.
func (c *Client) removeProbe(ctx context.Context, hc *http.Client, namespace, name, uid string) error {
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]any{"uid": uid}})
	if err != nil {
		return err
	}
	path := "/api/v1/namespaces/" + namespace + "/pods/" + name
	resp, err := c.send(ctx, hc, request{method: http.MethodDelete, path: path, accept: acceptJSON, body: body})
	if errors.Is(err, errNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove probe %s/%s: %w", namespace, name, err)
	}
	return resp.Body.Close()
}
