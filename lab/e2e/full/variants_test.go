//go:build e2e

package full

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/scenarios"
	"plumbline.dev/plumbline/lab/stage"
)

// TestVariants starts each kind of cluster once and sends requests between pods of two
// nodes, in each of its address families.
func TestVariants(t *testing.T) {
	for name, c := range map[string]lab.Config{
		"dual stack on kdd":  {DualStack: true, Datastore: lab.KDD},
		"dual stack on etcd": {DualStack: true, Datastore: lab.Etcd},
		"containerd 2.2":     {Containerd: lab.Containerd22},
		"small blocks":       {BlockSize: 29},
	} {
		t.Run(name, func(t *testing.T) {
			l := lab.Start(t, c)
			sc := stage.Scenario{Name: "variant", Run: func(ctx context.Context, s *stage.Stage) error { return talk(ctx, s, c) }}
			if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestLayout plays incidents on nodes whose runtime has its socket and its network configurations
// elsewhere, and where the usual directory has those of another program: check finds the same as on
// plain nodes.
func TestLayout(t *testing.T) {
	playOn(t, lab.Config{Datastore: lab.KDD, Layout: lab.LayoutK3s}, named("ipam-drift", "no-gateway", "shared-address")...)
}

// TestAgentsElsewhere has the agents in a namespace of another name, as Helm installs them there: they are
// found by their label, and lease, journals and policies are where they are.
func TestAgentsElsewhere(t *testing.T) {
	l := lab.Start(t, lab.Config{Datastore: lab.KDD})
	installWith(t, l, "observability")
	playAll(t, l, named("no-gateway")...)
	repaired(t, l)
	for what, want := range map[string]string{"leases/plumbline-apply": "plumbline-apply", "configmaps": "plumbline-journal-"} {
		if out, err := l.Kubectl(t.Context(), "-n", "observability", "get", what, "-o", "name"); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s of the agents' namespace: %q, %v", what, out, err)
		}
	}
}

// installWith has Helm install the agents in a namespace, with these values besides the usual ones.
func installWith(t *testing.T, l *lab.Lab, namespace string, values ...string) {
	t.Helper()
	product.InstallAgents(t, l) // so that every node has their image
	image, err := l.Kubectl(t.Context(), "-n", lab.AgentNamespace, "get", "daemonset", "plumbline-agent", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	if err != nil {
		t.Fatal(err)
	}
	product.RemoveAgents(t, l)
	product.Helm(t, l, "install", "plumbline", product.Chart(t), "-n", namespace, "--create-namespace", "--wait", "--timeout=90s",
		"--set", strings.Join(append(values, "image.pullPolicy=Never", "image.tag="+image[strings.LastIndex(image, ":")+1:]), ","))
}

// named gives scenarios by their names.
func named(names ...string) []stage.Scenario {
	var out []stage.Scenario
	for _, sc := range scenarios.All {
		if slices.Contains(names, sc.Name) {
			out = append(out, sc)
		}
	}
	return out
}

// TestThreeNodesTalkWithinAMinute measures from the start of a lab to HTTP between
// nodes.
func TestThreeNodesTalkWithinAMinute(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			start := time.Now()
			c := lab.Config{Nodes: 3, Datastore: mode}
			l := lab.Start(t, c)
			up := time.Since(start)
			sc := stage.Scenario{Name: "talk", Run: func(ctx context.Context, s *stage.Stage) error { return talk(ctx, s, c) }}
			if err := stage.Play(t.Context(), l, sc, stage.Options{Keep: true}); err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			t.Logf("3 nodes Ready after %.1f s, pods of two nodes connected after %.1f s", up.Seconds(), took.Seconds())
			if took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func talk(ctx context.Context, s *stage.Stage, c lab.Config) error {
	for i, name := range []string{"a", "b"} {
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: fmt.Sprintf("node%d", i+1)}); err != nil {
			return err
		}
	}
	out, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "pod", "b", "-o", "jsonpath={.status.podIPs[*].ip}")
	if err != nil {
		return err
	}
	ips := strings.Fields(out)
	if err := stage.Expect(len(ips) == 2 == c.DualStack, "addresses of each family, got %q", ips); err != nil {
		return err
	}
	for _, ip := range ips {
		if err := s.Reaches(ctx, "a", ip, "b"); err != nil {
			return err
		}
	}
	blocks, err := s.Blocks(ctx)
	if err != nil {
		return err
	}
	size := max(c.BlockSize, 26)
	for _, b := range blocks {
		if !strings.Contains(b.CIDR, ":") && !strings.HasSuffix(b.CIDR, fmt.Sprintf("/%d", size)) {
			return stage.Expect(false, "blocks of size /%d, got %s", size, b.CIDR)
		}
	}
	return nil
}
