//go:build e2e

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

const settle = 5 * time.Second

// A bench is a cluster with agents and controllers, which have the rights that the chart gives them.
type bench struct {
	*lab.Lab
	t        *testing.T
	replicas map[string]*exec.Cmd
	more     []string // arguments of replicas: how long findings settle, where probes and metrics are
	state    string   // outlives a replica, as the volume of its pod does
}

func start(t *testing.T, mode lab.Datastore, replicas int) *bench {
	t.Helper()
	return startOn(t, lab.Config{Nodes: 2, Datastore: mode}, replicas)
}

func startOn(t *testing.T, c lab.Config, replicas int) *bench {
	t.Helper()
	b := &bench{Lab: lab.Start(t, c), t: t, replicas: map[string]*exec.Cmd{}, state: t.TempDir(), more: []string{"--settle", settle.String(), "--probes", ""}}
	product.InstallAgents(t, b.Lab)
	for _, part := range []string{"crds", "controller-rights"} {
		b.apply(part)
	}
	b.eventually("the CRD", 20*time.Second, func(ctx context.Context) error {
		_, err := b.Kubectl(ctx, "get", "findings")
		return err
	})
	for i := range replicas {
		b.run(fmt.Sprintf("controller-%d", i))
	}
	return b
}

// apply creates what a template of the chart renders.
func (b *bench) apply(template string) {
	b.t.Helper()
	out := product.HelmOutput(b.t, b.Lab, "template", "plumbline", product.Chart(b.t), "--namespace", lab.AgentNamespace, "--set", "controller.enabled=true",
		"--kube-version", "1.34", "--show-only", "templates/"+template+".yaml")
	if err := b.Apply(b.t.Context(), out); err != nil {
		b.t.Fatal(err)
	}
}

// run starts a replica.
func (b *bench) run(name string) {
	b.t.Helper()
	// Each has a token of its own, by which the audit log tells them apart.
	kubeconfig := product.KubeconfigOf(b.t, b.Lab, lab.AgentNamespace, "plumbline-controller")
	args := []string{"--kubeconfig", kubeconfig, "--namespace", lab.AgentNamespace, "--name", name, "--serve", "", "--state-dir", filepath.Join(b.state, name)}
	if b.Datastore == lab.Etcd {
		ca, crt, key := b.EtcdCerts("read-only")
		args = append(args, "--etcd-endpoints", b.EtcdEndpoint(), "--etcd-cacert", ca, "--etcd-cert", crt, "--etcd-key", key)
	}
	args = append(args, b.more...)
	log, err := os.Create(filepath.Join(b.t.TempDir(), name+".log"))
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.CommandContext(b.t.Context(), product.Controller(b.t), args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), b.Env()...), log
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.replicas[name] = cmd
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if said, err := os.ReadFile(log.Name()); b.t.Failed() && err == nil {
			b.t.Logf("%s said:\n%.8000s", name, said)
		}
	})
}

// leader is the replica that holds the Lease.
func (b *bench) leader(ctx context.Context) (string, error) {
	out, err := b.Kubectl(ctx, "-n", lab.AgentNamespace, "get", "lease", "plumbline-controller", "-o", "jsonpath={.spec.holderIdentity}")
	return strings.TrimSpace(out), err
}

// A finding has the fields that are used here.
type finding struct {
	Metadata struct{ Name, UID string }
	Status   struct {
		State, Severity, FirstSeen string
		Count                      int
		Samples                    []struct{ Subject, Message string }
	}
}

func (b *bench) findings(ctx context.Context) (map[string]finding, error) {
	out, err := b.Kubectl(ctx, "get", "findings", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct{ Items []finding }
	all := map[string]finding{}
	err = json.Unmarshal([]byte(out), &list)
	for _, f := range list.Items {
		all[f.Metadata.Name] = f
	}
	return all, err
}

// events are the reasons of the Events about a finding, in order.
func (b *bench) events(ctx context.Context, name string) (string, error) {
	return b.Kubectl(ctx, "get", "events", "--field-selector=involvedObject.kind=Finding,involvedObject.name="+name, "--sort-by=.metadata.creationTimestamp", "-o", "jsonpath={range .items[*]}{.reason} {end}")
}

func (b *bench) eventually(what string, within time.Duration, ok func(context.Context) error) {
	b.t.Helper()
	began := time.Now()
	if err := lab.Eventually(b.t.Context(), within, ok); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	b.t.Logf("%s: after %.1f s", what, time.Since(began).Seconds())
}

// becomes waits until the finding has a state.
func (b *bench) becomes(state string, within time.Duration) (f finding) {
	b.t.Helper()
	b.eventually(name+" "+state, within, func(ctx context.Context) error {
		all, err := b.findings(ctx)
		if err != nil {
			return err
		}
		f = all[name]
		return stage.Expect(f.Status.State == state, "%s to be %s, got %+v", name, state, all)
	})
	return f
}
