package churn

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
	"plumbline.dev/plumbline/lab/stage"
)

const waitFor = 3 * time.Minute

func (c *churner) path(kind string) string {
	if kind == "jobs" {
		return "/apis/batch/v1/namespaces/" + c.Namespace + "/jobs"
	}
	return "/api/v1/namespaces/" + c.Namespace + "/" + kind
}

// ask retries a request while the API server is slow or unavailable: that is not a fault
// of the pod. An answer that the object already exists, or no longer exists, counts as
// success.
func (c *churner) ask(ctx context.Context, method, path, body string) error {
	return lab.Eventually(ctx, time.Minute, func(ctx context.Context) error {
		_, err := c.Do(ctx, method, path, body)
		if err != nil && (strings.Contains(err.Error(), "409 Conflict") || (method == http.MethodDelete && strings.Contains(err.Error(), "404 Not Found"))) {
			return nil
		}
		return err
	})
}

const podSpec = `{"terminationGracePeriodSeconds": 1, "restartPolicy": %q, "nodeSelector": {"kubernetes.io/hostname": %q},
 "containers": [{"name": "main", "image": %q, "args": [%s]}]}`

func spec(node, restart string, args ...string) string {
	return fmt.Sprintf(podSpec, restart, node, build.WorkloadImage, `"`+strings.Join(args, `","`)+`"`)
}

func (c *churner) create(ctx context.Context, name, podSpec string) error {
	return c.ask(ctx, http.MethodPost, c.path("pods"), fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q}, "spec": %s}`, name, podSpec))
}

func (c *churner) until(ctx context.Context, what string, ok func(lab.Pod, error) bool, name string) error {
	return lab.Eventually(ctx, waitFor, func(ctx context.Context) error {
		p, err := c.Pod(ctx, c.Namespace, name)
		if ok(p, err) {
			return nil
		}
		return fmt.Errorf("pod %s is not %s: %s %w", name, what, p.Status.Phase, err)
	})
}

func ready(p lab.Pod, err error) bool { return err == nil && p.Ready() }

func gone(_ lab.Pod, err error) bool {
	return err != nil && strings.Contains(err.Error(), "404 Not Found")
}

// plain creates a pod, waits until it is ready and deletes it; every third one by force.
func (c *churner) plain(ctx context.Context, node string, i int) error {
	name := fmt.Sprintf("plain-%s-%d", node, i)
	if err := c.create(ctx, name, spec(node, "Always", "serve")); err != nil {
		return err
	}
	if err := c.until(ctx, "ready", ready, name); err != nil {
		return err
	}
	return c.end(ctx, name, i%3 == 0)
}

func (c *churner) end(ctx context.Context, name string, force bool) error {
	path := c.path("pods") + "/" + name
	if force {
		path += "?gracePeriodSeconds=0"
	}
	if err := c.ask(ctx, http.MethodDelete, path, ""); err != nil {
		return err
	}
	c.pods.Add(1)
	return c.until(ctx, "gone", gone, name)
}

// job runs a pod that finishes by itself and is garbage-collected with its Job.
func (c *churner) job(ctx context.Context, node string, i int) error {
	name := fmt.Sprintf("job-%s-%d", node, i)
	err := c.ask(ctx, http.MethodPost, c.path("jobs"), fmt.Sprintf(
		`{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": %q}, "spec": {"ttlSecondsAfterFinished": 0, "template": {"spec": %s}}}`,
		name, spec(node, "Never", "sleep", "1")))
	if err != nil {
		return err
	}
	c.pods.Add(1)
	return lab.Eventually(ctx, waitFor, func(ctx context.Context) error {
		_, err := c.Do(ctx, http.MethodGet, c.path("jobs")+"/"+name, "")
		if gone(lab.Pod{}, err) {
			return nil
		}
		return fmt.Errorf("job %s still exists: %w", name, err)
	})
}

// failing runs a container that exits at once, repeatedly, until its pod is deleted.
func (c *churner) failing(ctx context.Context, node string, i int) error {
	name := fmt.Sprintf("failing-%s-%d", node, i)
	if err := c.create(ctx, name, spec(node, "Always", "fail")); err != nil {
		return err
	}
	started := func(p lab.Pod, err error) bool { return err == nil && p.Status.PodIP != "" }
	if err := c.until(ctx, "started", started, name); err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	return c.end(ctx, name, false)
}

const replicas = 2

func (c *churner) statefulSets(ctx context.Context) error {
	for n := 1; n <= c.Nodes; n++ {
		set := c.StatefulSet(stage.PodSpec{Name: fmt.Sprintf("set-node%d", n), Node: fmt.Sprintf("node%d", n)}, replicas)
		if err := c.Apply(ctx, set); err != nil {
			return err
		}
	}
	return nil
}

// returning deletes a StatefulSet's pod, every second time by force; it is recreated
// with the same name on the same node.
func (c *churner) returning(ctx context.Context, node string, i int) error {
	name := fmt.Sprintf("set-%s-0", node)
	if err := c.until(ctx, "ready", ready, name); err != nil {
		return err
	}
	old, err := c.Pod(ctx, c.Namespace, name)
	if err != nil {
		return nil //nolint:nilerr // deleted meanwhile, or the API is slow: retried in the next cycle
	}
	path := c.path("pods") + "/" + name
	if i%2 == 0 {
		path += "?gracePeriodSeconds=0"
	}
	if err := c.ask(ctx, http.MethodDelete, path, ""); err != nil {
		return err
	}
	c.pods.Add(1)
	return c.until(ctx, "back", func(p lab.Pod, err error) bool { return ready(p, err) && p.Metadata.UID != old.Metadata.UID }, name)
}

// killSandbox kills the pause process of a running pod; the kubelet creates a new
// sandbox, with a new address, for the same pod.
func (c *churner) killSandbox(ctx context.Context, node string, _ int) error {
	name := fmt.Sprintf("set-%s-1", node)
	if err := c.until(ctx, "ready", ready, name); err != nil {
		return err
	}
	n, err := c.NodeByName(ctx, node)
	if err != nil {
		return err
	}
	sb, err := c.Sandbox(ctx, n, name)
	if err != nil {
		time.Sleep(time.Second) // a sandbox is being replaced
		return nil              //nolint:nilerr // see above
	}
	if _, err := n.Exec(ctx, "kill", "-9", sb.PID); err != nil {
		return nil //nolint:nilerr // it has exited by itself
	}
	c.restarts.Add(1)
	err = lab.Eventually(ctx, waitFor, func(ctx context.Context) error {
		now, err := c.Sandbox(ctx, n, name)
		if err != nil {
			return err
		}
		return stage.Expect(now.ID != sb.ID, "a new sandbox of %s", name)
	})
	if err != nil {
		return err
	}
	// The container was restarted; a pod that goes through this repeatedly gets a longer
	// back-off each time. So another pod replaces it.
	if err := c.ask(ctx, http.MethodDelete, c.path("pods")+"/"+name, ""); err != nil {
		return err
	}
	c.pods.Add(1)
	return nil
}
