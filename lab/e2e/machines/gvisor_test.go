//go:build e2e

package machines

import (
	"context"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// TestGVisor: a pod in gVisor has its address in a network stack of its own. It is healthy,
// nothing is found, and the address is not given to another pod that has it too.
func TestGVisor(t *testing.T) {
	b := start(t, 1)
	if err := b.machine.AddGVisor(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec := stage.PodSpec{Name: "sandboxed", Node: b.machine.Name}
	if err := b.Apply(t.Context(), b.stage().Manifest(spec)+"  runtimeClassName: "+lab.RunscHandler+"\n"); err != nil {
		t.Fatal(err)
	}
	var pod lab.Pod
	b.eventually("the pod in gVisor", 4*time.Minute, func(ctx context.Context) (err error) {
		pod, err = b.Pod(ctx, namespace, spec.Name)
		if err != nil {
			return err
		}
		return stage.Expect(pod.Ready() && pod.Status.PodIP != "", "it to be ready, got %s", pod.Status.Phase)
	})
	ip := pod.Status.PodIP
	b.reaches(ip, spec.Name)
	b.clean()
	out, _, err := b.said("explain", "pod", spec.Name, "-n", namespace)
	if err != nil || strings.Contains(out, "NO ADDRESS") || !strings.Contains(out, "not visible (runsc)") {
		t.Errorf("explain pod: %v\n%s", err, out)
	}
	b.robbery(spec.Name, ip)
}

// reaches requires that the pod on the namespace node gets an answer of a pod from an address.
func (b *bench) reaches(ip, pod string) {
	b.t.Helper()
	from := "on-" + b.nodes[0].Name
	b.eventually("HTTP from "+from+" to "+pod, 30*time.Second, func(ctx context.Context) error {
		return b.stage().Reaches(ctx, from, ip, pod)
	})
}

// robbery: the address of the pod in gVisor is released, another pod on another node gets it, and
// it is released again. Only the other pod's interface has it, and IPAM names no pod; still the
// address must not be recorded for the other pod.
func (b *bench) robbery(owner, ip string) {
	b.t.Helper()
	ctx := b.t.Context()
	release := func() {
		b.t.Helper()
		if _, err := b.Calicoctl(ctx, "ipam", "release", "--ip="+ip); err != nil {
			b.t.Fatal(err)
		}
	}
	release()
	thief := stage.PodSpec{Name: "second", Node: b.nodes[0].Name, Annotations: stage.WithAddress(ip)}
	if _, err := b.stage().Run(ctx, thief); err != nil {
		b.t.Fatal(err)
	}
	release()
	const next = "network stack of its own"
	b.eventually("the duplicate", time.Minute, func(ctx context.Context) error {
		r, err := stage.CheckWith(ctx, b.Lab, b.bin, b.state, "--wait", "--settle=20s")
		if err != nil {
			return err
		}
		return stage.Expect(strings.Contains(strings.Join(r.Names(), " "), "PL2010/"+ip), "PL2010/%s, got %q", ip, r.Names())
	})
	out, diag, err := b.said("plan", "PL2010/"+ip, "--settle=20s")
	b.t.Logf("plan: %v\n%s%s", err, out, diag)
	if !strings.Contains(out+diag, next) || strings.Contains(out+diag, "assign") {
		b.t.Errorf("the plan is not refused for the pod in gVisor")
	}
	p, err := b.Pod(ctx, namespace, owner)
	if err != nil || !p.Ready() || p.Status.PodIP != ip {
		b.t.Errorf("%s: %+v, %v", owner, p.Status, err)
	}
}
