// Package retrieddel produces a CNI DEL that fails without an Event: its pod is gone, and the
// kubelet that knew the pod has been restarted, so that its sandbox is an orphan.
package retrieddel

import (
	"context"
	"path"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "retried-del", Title: "a DEL fails again and again, without an Event",
	Nodes: 2, Modes: stage.Both, Run: run, ByCause: true,
}

const name = "gone"

// collected is how old a sandbox must be for the kubelet to remove it, and how often it does so.
const collected = time.Minute

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	// Those of scenarios before this one would be DELs that fail too.
	if err := lab.Eventually(ctx, 4*collected, func(ctx context.Context) error { return s.NoneEnded(ctx, node) }); err != nil {
		return err
	}
	if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: node.Name}); err != nil {
		return err
	}
	born := time.Now()
	sb, err := s.Sandbox(ctx, node, name)
	if err != nil {
		return err
	}
	if err := node.Stop(ctx, lab.Kubelet); err != nil {
		return err
	}
	if err := hide(ctx, s, node); err != nil {
		return err
	}
	if err := end(ctx, s, node, sb); err != nil {
		return err
	}
	if _, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "pod", name, "--grace-period=0", "--force"); err != nil {
		return err
	}
	time.Sleep(collected - time.Since(born))
	if err := node.Start(ctx, lab.Kubelet); err != nil {
		return err
	}
	began := time.Now()
	if err := lab.Eventually(ctx, time.Minute, node.Ready); err != nil {
		return err
	}
	s.Say("the pod has ended and is deleted, the new kubelet of %s has no record of it, and Calico's plugin is missing", node.Name)
	return symptoms(ctx, s, node, sb, began)
}

// end kills all processes of the pod: its sandbox has ended, and waits for its DEL.
func end(ctx context.Context, s *stage.Stage, node *lab.Node, sb stage.Sandbox) error {
	containers, err := s.Containers(ctx, node, name)
	if err != nil {
		return err
	}
	for _, c := range append(containers, sb) {
		if _, err := node.Exec(ctx, "kill", "-9", c.PID); err != nil {
			return err
		}
	}
	return nil
}

const plugin = "/opt/cni/bin/calico"

// hide takes Calico's plugin away, and brings it back after the incident.
func hide(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	aside := path.Join("/opt", path.Base(plugin)+".aside")
	s.Cleanup(func(ctx context.Context) error { return show(ctx, node, aside) })
	_, err := node.Exec(ctx, "mv", plugin, aside)
	return err
}

func show(ctx context.Context, node *lab.Node, aside string) error {
	_, err := node.Exec(ctx, "sh", "-c", "[ ! -e "+aside+" ] || mv "+aside+" "+plugin)
	return err
}

func symptoms(ctx context.Context, s *stage.Stage, node *lab.Node, sb stage.Sandbox, began time.Time) error {
	// The kubelet's first attempt is a minute after its start. It is found at the second, and
	// within two minutes of the first.
	time.Sleep(2*collected + 15*time.Second - time.Since(began))
	events, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "events", "-o", "custom-columns=REASON:.reason,MESSAGE:.message", "--no-headers")
	if err != nil {
		return err
	}
	for line := range strings.Lines(events) {
		if err := stage.Expect(!strings.Contains(line, "FailedKillPod"), "no event about the DEL, got %q", line); err != nil {
			return err
		}
	}
	still, err := s.Kept(ctx, node, name, sb.ID)
	if err != nil {
		return err
	}
	if err := stage.Expect(still, "the runtime to keep sandbox %s", sb.ID); err != nil {
		return err
	}
	held, err := s.Held(ctx, func(a stage.Attribute) bool { return a.Secondary["namespace"] == s.Namespace })
	if err != nil {
		return err
	}
	want := []string{"+PL4006/" + s.Namespace + "/" + name}
	for _, ip := range held {
		want = append(want, "PL1001/"+ip)
	}
	if s.Datastore == lab.Etcd { // with Kubernetes, the endpoint was the pod
		want = append(want, "PL2002/"+s.Namespace+"/"+node.Name+"-k8s-"+name+"-eth0")
	}
	if err := s.Check(ctx, "retried", want...); err != nil {
		return err
	}
	s.Say("found %.0f s after the first attempt", (time.Since(began) - collected).Seconds())
	return nil
}
