package stage

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
)

// PodSpec describes a pod of a scenario.
type PodSpec struct {
	Name        string
	Node        string
	Args        []string // of the workload; serve if empty
	Annotations map[string]string
	HostPath    string // mounted at /hang
	Grace       int    // seconds; 1 if 0
}

// Manifest returns the pod's manifest, in the scenario's namespace.
func (s *Stage) Manifest(p PodSpec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: %s\n  labels: {app: %s}\n", p.Name, s.Namespace, p.Name)
	if len(p.Annotations) > 0 {
		b.WriteString("  annotations:\n")
		for k, v := range p.Annotations {
			fmt.Fprintf(&b, "    %s: %q\n", k, v)
		}
	}
	fmt.Fprintf(&b, "spec:\n%s", s.spec(p, "  "))
	return b.String()
}

func (s *Stage) spec(p PodSpec, indent string) string {
	args := p.Args
	if len(args) == 0 {
		args = []string{"serve"}
	}
	grace := p.Grace
	if grace == 0 {
		grace = 1
	}
	lines := []string{fmt.Sprintf("terminationGracePeriodSeconds: %d", grace)}
	if p.Node != "" {
		lines = append(lines, fmt.Sprintf("nodeSelector: {kubernetes.io/hostname: %s}", p.Node))
	}
	mount := ""
	if p.HostPath != "" {
		lines = append(lines, fmt.Sprintf("volumes: [{name: hang, hostPath: {path: %s}}]", p.HostPath))
		mount = ", volumeMounts: [{name: hang, mountPath: /hang}]"
	}
	lines = append(lines, fmt.Sprintf(`containers: [{name: main, image: "%s", args: [%s]%s}]`, build.WorkloadImage, strings.Join(args, ", "), mount))
	return indent + strings.Join(lines, "\n"+indent) + "\n"
}

// Run creates the pod and waits until it is ready.
func (s *Stage) Run(ctx context.Context, p PodSpec) (lab.Pod, error) {
	if err := s.Apply(ctx, s.Manifest(p)); err != nil {
		return lab.Pod{}, err
	}
	return s.WaitReady(ctx, p.Name, "")
}

// StatefulSet returns a StatefulSet with pods NAME-0 and so on, on a node.
func (s *Stage) StatefulSet(p PodSpec, replicas int) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  serviceName: %[1]s
  replicas: %[4]d
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
%[3]s`, p.Name, s.Namespace, s.spec(p, "      "), replicas)
}

// WaitReady waits for a ready pod of that name whose UID is not notUID.
func (s *Stage) WaitReady(ctx context.Context, name, notUID string) (lab.Pod, error) {
	var pod lab.Pod
	err := lab.Eventually(ctx, s.Scale(90*time.Second), func(ctx context.Context) (err error) {
		if pod, err = s.Pod(ctx, s.Namespace, name); err != nil {
			return err
		}
		if pod.Metadata.UID == notUID || !pod.Ready() || pod.Status.PodIP == "" {
			return fmt.Errorf("pod %s is %s, ready: %v", name, pod.Status.Phase, pod.Ready())
		}
		return nil
	})
	return pod, err
}

// WaitGone waits until no pod of that name exists.
func (s *Stage) WaitGone(ctx context.Context, name string) error {
	return lab.Eventually(ctx, s.Scale(90*time.Second), func(ctx context.Context) error {
		pods, err := s.Pods(ctx, s.Namespace, "")
		if err != nil {
			return err
		}
		for _, p := range pods {
			if p.Metadata.Name == name {
				return fmt.Errorf("pod %s still exists", name)
			}
		}
		return nil
	})
}

// Delete deletes a pod and waits until it is gone.
func (s *Stage) Delete(ctx context.Context, name string) error {
	if _, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "pod", name, "--wait=false"); err != nil {
		return err
	}
	return s.WaitGone(ctx, name)
}

// ForceDelete removes the pod's object at once, without waiting for its node.
func (s *Stage) ForceDelete(ctx context.Context, name string) error {
	_, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "pod", name, "--force", "--grace-period=0")
	return err
}

// GetFrom sends a request to a workload at ip from inside the pod and returns its
// answer.
func (s *Stage) GetFrom(ctx context.Context, pod, ip string) (string, error) {
	return s.Kubectl(ctx, "-n", s.Namespace, "exec", pod, "--", "/workload", "get", URL(ip))
}

// URL is the URL of a workload with that address.
func URL(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return "http://invalid/"
	}
	return "http://" + netip.AddrPortFrom(a, 8080).String() + "/"
}

// Reaches waits until the pod gets an answer from ip that names the host.
func (s *Stage) Reaches(ctx context.Context, from, ip, host string) error {
	return lab.Eventually(ctx, s.Scale(20*time.Second), func(ctx context.Context) error {
		out, err := s.GetFrom(ctx, from, ip)
		if err != nil {
			return err
		}
		return Expect(strings.HasPrefix(out, "host="+host+" "), "an answer of %s from %s, got %q", host, ip, out)
	})
}
