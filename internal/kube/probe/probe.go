// Package probe reads a node's state where no agent runs, by a short-lived pod. It can create
// such pods and delete them, and nothing else.
package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
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

// A Prober runs probes with the user's own rights.
type Prober struct {
	client *kube.Client
	sender *kube.Sender
}

// New returns one for a cluster. It sends no request yet.
func New(c *kube.Client) (*Prober, error) {
	s, err := c.Sender(mayProbe)
	if err != nil {
		return nil, err
	}
	return &Prober{c, s}, nil
}

var (
	podsPath  = regexp.MustCompile(`^/api/v1/namespaces/` + kube.NamePattern + `/pods$`)
	probePath = regexp.MustCompile(`^/api/v1/namespaces/` + kube.NamePattern + `/pods/` + probePrefix + `[a-z0-9]{1,20}$`)
)

// mayProbe admits creating a pod and deleting a probe.
func mayProbe(method, path string) bool {
	return method == http.MethodPost && podsPath.MatchString(path) || method == http.MethodDelete && probePath.MatchString(path)
}

// Run creates the pod, waits for its end, and returns its output. It always deletes the pod.
func (r *Prober) Run(ctx context.Context, p Probe) (said []byte, err error) {
	if err := kube.CheckNames(p.Namespace, p.Node); err != nil {
		return nil, err
	}
	body, err := json.Marshal(probePod(p))
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
	resp, err := r.sender.Send(ctx, kube.Request{Method: http.MethodPost, Path: pods, Accept: kube.AcceptJSON, Body: body})
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	made, err := readAnswer(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	defer func() {
		// Also after the context has ended.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, r.remove(last, p.Namespace, made.Metadata.Name, made.Metadata.UID))
	}()
	if err := r.end(ctx, pods+"/"+made.Metadata.Name); err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	said, err = r.client.PodLog(ctx, p.Namespace, made.Metadata.Name, "probe")
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.Node, err)
	}
	return said, nil
}

// end waits until the pod has finished.
func (r *Prober) end(ctx context.Context, path string) error {
	tick := time.NewTicker(probeLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the probe pod did not finish: %w", ctx.Err())
		case <-tick.C:
		}
		b, _, err := r.client.Get(ctx, path)
		if err != nil {
			return err
		}
		o, err := readProbe(b)
		if err != nil {
			return err
		}
		if done, err := o.ended(); done || err != nil {
			return err
		}
	}
}

// RemoveOld deletes probes that were left behind: those that have ended, and those older
// than a probe can be. It returns how many.
func (r *Prober) RemoveOld(ctx context.Context, namespace string) (int, error) {
	pods, seen, err := r.client.PodsWithLabels(ctx, namespace, probeLabels)
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
		if err := r.remove(ctx, namespace, p.Name, p.UID); err != nil {
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

// remove deletes the pod with this UID only.
func (r *Prober) remove(ctx context.Context, namespace, name, uid string) error {
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]any{"uid": uid}})
	if err != nil {
		return err
	}
	path := "/api/v1/namespaces/" + namespace + "/pods/" + name
	resp, err := r.sender.Send(ctx, kube.Request{Method: http.MethodDelete, Path: path, Accept: kube.AcceptJSON, Body: body})
	if errors.Is(err, observe.ErrNotThere) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove probe %s/%s: %w", namespace, name, err)
	}
	return resp.Body.Close()
}
