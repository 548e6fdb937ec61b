//go:build e2e

package machines

import (
	"context"
	"encoding/json"
	"flag"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	kind = flag.String("machine", "debian12", "what the machines are: debian11, debian12, debian13")
	keep = flag.Duration("keep", 0, "how long to keep the cluster after a failure")
)

func TestMain(m *testing.M) { lab.Main(m) }

// A bench is a cluster of one namespace node and machines, with agents, guard and a pod
// on every node.
type bench struct {
	*lab.Lab
	t       *testing.T
	bin     string
	state   string
	machine *lab.Node // the last
	nodes   []*lab.Node
	pods    map[string]lab.Pod // by node
}

const namespace = "machines"

// start starts the cluster with its pods and agents.
func start(t *testing.T, machines int) *bench {
	t.Helper()
	began := time.Now()
	l := lab.Start(t, lab.Config{Nodes: 1, Machines: machines, Machine: *kind})
	t.Logf("up after %.0f s; %s is %.1f times slower than the host", time.Since(began).Seconds(), *kind, l.Slow)
	t.Cleanup(func() {
		if t.Failed() {
			time.Sleep(*keep)
		}
	})
	nodes, err := l.RunningNodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Lab: l, t: t, bin: product.Binary(t), state: t.TempDir(), nodes: nodes, machine: nodes[len(nodes)-1], pods: map[string]lab.Pod{}}
	product.InstallGuard(t, l)
	b.run()
	return b
}

// run creates a pod on every node.
func (b *bench) run() {
	b.t.Helper()
	if err := b.Apply(b.t.Context(), "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+namespace+"}\n"); err != nil {
		b.t.Fatal(err)
	}
	for _, n := range b.nodes {
		spec := stage.PodSpec{Name: "on-" + n.Name, Node: n.Name}
		// They stay while their node is away, as the pods of a StatefulSet would come back.
		pod := b.stage().Manifest(spec) + "  tolerations: [{operator: Exists}]\n"
		b.eventually("create a pod on "+n.Name, 30*time.Second, func(ctx context.Context) error { return b.Apply(ctx, pod) })
	}
	b.podsReady()
}

func (b *bench) stage() *stage.Stage {
	return &stage.Stage{Lab: b.Lab, Namespace: namespace, Tell: func(s string) { b.t.Log(s) }}
}

// podsReady waits until every pod runs, as after a reboot.
func (b *bench) podsReady() {
	b.t.Helper()
	for _, n := range b.nodes {
		b.eventually("the pod on "+n.Name, 3*time.Minute, func(ctx context.Context) error {
			p, err := b.Pod(ctx, namespace, "on-"+n.Name)
			if err != nil {
				return err
			}
			b.pods[n.Name] = p
			return stage.Expect(p.Ready() && p.Status.PodIP != "", "%s ready, got %s", p.Metadata.Name, p.Status.Phase)
		})
	}
}

func (b *bench) eventually(what string, within time.Duration, ok func(context.Context) error) {
	b.t.Helper()
	began := time.Now()
	if err := lab.Eventually(b.t.Context(), b.Scale(within), ok); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		b.t.Logf("%s: after %.0f s", what, took.Seconds())
	}
}

// connected requires that every pod reaches every other.
func (b *bench) connected() {
	b.t.Helper()
	for from := range b.pods {
		for to, pod := range b.pods {
			b.eventually("HTTP from "+from+" to "+to, 20*time.Second, func(ctx context.Context) error {
				out, err := b.stage().GetFrom(ctx, "on-"+from, pod.Status.PodIP)
				if err != nil {
					return err
				}
				return stage.Expect(strings.HasPrefix(out, "host=on-"+to+" "), "an answer of on-%s, got %q", to, out)
			})
		}
	}
}

// clean requires a check that finds nothing and has read every node.
func (b *bench) clean() {
	b.t.Helper()
	b.eventually("a clean check", time.Minute, func(ctx context.Context) error {
		r, err := stage.CheckWith(ctx, b.Lab, b.bin, b.state, "--wait", "--settle=20s")
		if err != nil {
			return err
		}
		return stage.Expect(len(r.Findings) == 0 && len(r.NotChecked) == 0, "no findings and everything checked, got %+v, not checked %+v", r.Findings, r.NotChecked)
	})
}

// A guard has the fields of a guard daemon's report that are used here.
type guard struct{ Wanted, Mode, State string }

// guarded makes the guard of every node enforce.
func (b *bench) guarded() {
	const mode = "enforce"
	b.t.Helper()
	_, err := b.Kubectl(b.t.Context(), "-n", lab.AgentNamespace, "patch", "configmap", "plumbline-guard", "--type=merge", "-p", `{"data":{"mode":"`+mode+`"}}`)
	if err != nil {
		b.t.Fatal(err)
	}
	b.eventually("the guard in mode "+mode, 90*time.Second, func(ctx context.Context) error {
		for _, n := range b.nodes {
			out, err := n.Exec(ctx, "cat", "/run/plumbline/guard/status")
			if err != nil {
				return err
			}
			var g guard
			if err := json.Unmarshal([]byte(out), &g); err != nil {
				return err
			}
			if err := stage.Expect(g.Mode == mode && g.State == "patched", "%s guarded, got %+v", n.Name, g); err != nil {
				return err
			}
		}
		return nil
	})
}
