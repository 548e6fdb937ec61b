package stage

import (
	"context"
	"crypto/sha1" //nolint:gosec // Calico derives interface names with it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/lab"
)

// Device returns the name that Calico gives to the host veth of a pod.
func Device(namespace, pod string) string {
	sum := sha1.Sum([]byte(namespace + "." + pod)) //nolint:gosec // see above
	return "cali" + hex.EncodeToString(sum[:])[:11]
}

// Devices lists the cali* interfaces of a node.
func Devices(ctx context.Context, n *lab.Node) ([]string, error) {
	out, err := n.Exec(ctx, "ip", "-j", "link")
	if err != nil {
		return nil, err
	}
	var links []struct{ Ifname string }
	if err := json.Unmarshal([]byte(out), &links); err != nil {
		return nil, fmt.Errorf("read links of %s: %w", n.Name, err)
	}
	var names []string
	for _, l := range links {
		if strings.HasPrefix(l.Ifname, "cali") {
			names = append(names, l.Ifname)
		}
	}
	return names, nil
}

// RouteDevice returns the interface of the node's host route for an address, or "".
func RouteDevice(ctx context.Context, n *lab.Node, ip string) (string, error) {
	out, err := n.Exec(ctx, "ip", "-j", "route", "show", "exact", ip)
	if err != nil {
		return "", err
	}
	var routes []struct{ Dev string }
	if err := json.Unmarshal([]byte(out), &routes); err != nil {
		return "", fmt.Errorf("read routes of %s: %w", n.Name, err)
	}
	if len(routes) == 0 {
		return "", nil
	}
	return routes[0].Dev, nil
}

// Neighbours lists the interfaces on which the node has a neighbour entry for an
// address, with its state.
func Neighbours(ctx context.Context, n *lab.Node, ip string) (map[string]string, error) {
	out, err := n.Exec(ctx, "ip", "-j", "neigh", "show", "to", ip)
	if err != nil {
		return nil, err
	}
	var entries []struct {
		Dev   string
		State []string
	}
	if err := json.Unmarshal([]byte(out), &entries); err != nil {
		return nil, fmt.Errorf("read neighbours of %s: %w", n.Name, err)
	}
	m := map[string]string{}
	for _, e := range entries {
		m[e.Dev] = strings.Join(e.State, ",")
	}
	return m, nil
}

// A Sandbox is a pod's sandbox in the container runtime.
type Sandbox struct {
	ID  string
	PID string // of the pause process, in the node
}

// Sandboxes lists the running sandboxes of pods with that name on a node.
func (s *Stage) Sandboxes(ctx context.Context, n *lab.Node, pod string) ([]Sandbox, error) {
	return s.tasks(ctx, n, pod, "sandbox", "RUNNING")
}

// Kept returns whether the runtime still has a sandbox of the pod, running or exited.
func (s *Stage) Kept(ctx context.Context, n *lab.Node, pod, id string) (bool, error) {
	ids, err := s.containers(ctx, n, pod, "sandbox")
	return slices.Contains(ids, id), err
}

// NoneEnded is an error while the runtime of a node has a sandbox that has ended, of whatever pod: the kubelet
// removes it some minutes later, and what a scenario breaks meanwhile would break that too.
func (s *Stage) NoneEnded(ctx context.Context, n *lab.Node) error {
	all, err := n.Ctr(ctx, "containers", "ls", "-q", `labels."io.cri-containerd.kind"==sandbox`)
	if err != nil {
		return err
	}
	tasks, err := n.Ctr(ctx, "tasks", "ls")
	if err != nil {
		return err
	}
	runs := map[string]bool{}
	for line := range strings.Lines(tasks) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "RUNNING" {
			runs[f[0]] = true
		}
	}
	for _, id := range strings.Fields(all) {
		if !runs[id] {
			return fmt.Errorf("sandbox %s has ended and is still on %s", id, n.Name)
		}
	}
	return nil
}

func (s *Stage) containers(ctx context.Context, n *lab.Node, pod, kind string) ([]string, error) {
	out, err := n.Ctr(ctx, "containers", "ls", "-q",
		fmt.Sprintf(`labels."io.kubernetes.pod.name"==%s,labels."io.kubernetes.pod.namespace"==%s,labels."io.cri-containerd.kind"==%s`, pod, s.Namespace, kind))
	return strings.Fields(out), err
}

// tasks lists what the runtime runs for a pod: kind is sandbox or container, and an
// empty state means any.
func (s *Stage) tasks(ctx context.Context, n *lab.Node, pod, kind, state string) ([]Sandbox, error) {
	ids, err := s.containers(ctx, n, pod, kind)
	if err != nil {
		return nil, err
	}
	tasks, err := n.Ctr(ctx, "tasks", "ls")
	if err != nil {
		return nil, err
	}
	var found []Sandbox
	for _, id := range ids {
		for line := range strings.Lines(tasks) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == id && (state == "" || f[2] == state) {
				found = append(found, Sandbox{ID: id, PID: f[1]})
			}
		}
	}
	return found, nil
}

// Sandbox returns the only running sandbox of the pod.
func (s *Stage) Sandbox(ctx context.Context, n *lab.Node, pod string) (Sandbox, error) {
	all, err := s.Sandboxes(ctx, n, pod)
	if err != nil {
		return Sandbox{}, err
	}
	if len(all) != 1 {
		return Sandbox{}, fmt.Errorf("pod %s has %d running sandboxes on %s", pod, len(all), n.Name)
	}
	return all[0], nil
}

// InPod runs a command of the node in the pod's network namespace.
func InPod(ctx context.Context, n *lab.Node, sb Sandbox, argv ...string) (string, error) {
	return n.Exec(ctx, append([]string{"nsenter", "-t", sb.PID, "-n", "--"}, argv...)...)
}
