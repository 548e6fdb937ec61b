// Package failingadd produces pods that do not start, because their CNI ADD fails: once for each
// of the causes that people are paged for most.
package failingadd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "failing-add", Title: "pods do not start: their CNI ADD fails",
	Nodes: 3, Modes: stage.Both, Run: run, ByCause: true,
}

// lasting is how long ADDs must fail to be reported.
const lasting = 2 * time.Minute

// causes are what is wrong on each node, and how check says it.
var causes = []string{"unauthorized", "the plugin's program is missing", "no enabled pool admits the pod"}

func run(ctx context.Context, s *stage.Stage) error {
	var nodes []*lab.Node
	for i := range causes {
		n, err := s.Node(ctx, i+1)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	runs, err := s.Run(ctx, stage.PodSpec{Name: "runs", Node: nodes[0].Name})
	if err != nil {
		return err
	}
	if err := s.Check(ctx, "before"); err != nil {
		return err
	}
	heal := func(ctx context.Context) error {
		return errors.Join(credential(ctx, nodes[0], `s/{token: "not-/{token: "/`), program(ctx, nodes[1], aside, ipam), pools(ctx, s, "false"))
	}
	s.Cleanup(heal)
	if err := errors.Join(credential(ctx, nodes[0], `s/{token: "/{token: "not-/`), program(ctx, nodes[1], ipam, aside), pools(ctx, s, "true")); err != nil {
		return err
	}
	for _, n := range nodes {
		if err := s.Apply(ctx, s.Manifest(stage.PodSpec{Name: "new-" + n.Name, Node: n.Name})); err != nil {
			return err
		}
	}
	s.Say("three nodes, three causes: %s", strings.Join(causes, ", "))
	if err := fails(ctx, s, nodes); err != nil {
		return err
	}
	if err := heal(ctx); err != nil {
		return err
	}
	for _, n := range nodes {
		pod, err := s.WaitReady(ctx, "new-"+n.Name, "")
		if err != nil {
			return err
		}
		// While its pool was disabled, a node may have lost its tunnel's address, and gets another.
		began := time.Now()
		if err := lab.Eventually(ctx, s.Scale(3*time.Minute), func(ctx context.Context) error {
			return s.Reaches(ctx, runs.Metadata.Name, pod.Status.PodIP, "new-"+n.Name)
		}); err != nil {
			return err
		}
		s.Say("new-%s answers after %.0f s", n.Name, time.Since(began).Seconds())
	}
	return s.Check(ctx, "healed")
}

// fails requires that no pod starts, and that check names each cause.
func fails(ctx context.Context, s *stage.Stage, nodes []*lab.Node) error {
	began := time.Time{}
	if err := lab.Eventually(ctx, s.Scale(90*time.Second), func(ctx context.Context) error {
		for _, n := range nodes {
			out, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "events", "--field-selector=reason=FailedCreatePodSandBox,involvedObject.name=new-"+n.Name, "-o", "name")
			if err != nil {
				return err
			}
			if err := stage.Expect(strings.TrimSpace(out) != "", "an Event about the ADD on %s", n.Name); err != nil {
				return err
			}
		}
		began = time.Now()
		return nil
	}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lasting + 20*time.Second - time.Since(began)):
	}
	var want []string
	for _, n := range nodes {
		ip, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "pod", "new-"+n.Name, "-o", "jsonpath={.status.podIP}")
		if err != nil {
			return err
		}
		if err := stage.Expect(ip == "", "new-%s to have no address, it has %s", n.Name, ip); err != nil {
			return err
		}
		want = append(want, "PL4007/"+n.Name)
	}
	// Without a pool pods of all nodes fail, and nodes lose their tunnels: that is said once.
	pool, err := onlyPool(ctx, s)
	if err != nil {
		return err
	}
	want[len(want)-1] = "PL1010/" + pool
	if err := s.Check(ctx, "failing", want...); err != nil {
		return err
	}
	for _, f := range s.Checked.Findings {
		if f.Name == "PL1010/"+pool {
			if err := stage.Expect(slices.Contains(f.Explains, "PL4007/"+nodes[2].Name), "PL4007 of %s under %s, there are %q", nodes[2].Name, f.Name, f.Explains); err != nil {
				return err
			}
		}
		for i, n := range nodes {
			if f.Name != "PL4007/"+n.Name {
				continue
			}
			if err := stage.Expect(strings.Contains(f.Summary, causes[i]), "%s to say %q, it says %q", f.Name, causes[i], f.Summary); err != nil {
				return err
			}
			s.Say("%s: %s", f.Name, f.Summary)
		}
	}
	return nil
}

const (
	ipam  = "/opt/cni/bin/calico-ipam"
	aside = "/opt/calico-ipam.aside"
)

// credential edits the token in the plugin's kubeconfig.
func credential(ctx context.Context, n *lab.Node, edit string) error {
	_, err := n.Exec(ctx, "sed", "-i", edit, "/etc/cni/net.d/calico-kubeconfig")
	return err
}

// program moves a program, if it is there.
func program(ctx context.Context, n *lab.Node, from, to string) error {
	_, err := n.Exec(ctx, "sh", "-c", "[ ! -e "+from+" ] || mv "+from+" "+to)
	return err
}

// onlyPool is the name of the IPv4 pool.
func onlyPool(ctx context.Context, s *stage.Stage) (string, error) {
	out, err := s.Calicoctl(ctx, "get", "ippool", "-o", "go-template={{range .}}{{range .Items}}{{.ObjectMeta.Name}} {{end}}{{end}}")
	name, _, _ := strings.Cut(strings.TrimSpace(out), " ")
	return name, err
}

// pools disables all pools, or enables them.
func pools(ctx context.Context, s *stage.Stage, disabled string) error {
	out, err := s.Calicoctl(ctx, "get", "ippool", "-o", "go-template={{range .}}{{range .Items}}{{.ObjectMeta.Name}} {{end}}{{end}}")
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(out) {
		if _, err := s.Calicoctl(ctx, "patch", "ippool", name, "-p", `{"spec":{"disabled":`+disabled+`}}`); err != nil {
			return err
		}
	}
	return nil
}
