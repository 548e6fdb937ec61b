//go:build e2e

package agentcost

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
	"plumbline.dev/plumbline/lab/stage"
)

// A lookup has the full node and its agent.
type lookup struct {
	*stage.Stage
	node *lab.Node
	web  stage.Sandbox // of the pod that is changed
	ask  *asker

	unseen map[string]int // answers without the table
}

const crowdSet = `apiVersion: apps/v1
kind: Deployment
metadata: {name: crowd, namespace: default}
spec:
  replicas: %d
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 20}}
  selector: {matchLabels: {app: crowd}}
  template:
    metadata: {labels: {app: crowd}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "%s", args: [serve]}]
`

// fill starts the pods.
func fill(t *testing.T, l *lab.Lab, r *report) *lookup {
	t.Helper()
	n, err := l.Node(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &lookup{Stage: &stage.Stage{Lab: l, Namespace: "default", Tell: func(line string) { t.Log(line) }}, node: n}
	began := time.Now()
	if err := l.Apply(t.Context(), fmt.Sprintf(crowdSet, *crowd, build.WorkloadImage)); err != nil {
		t.Fatal(err)
	}
	s.allReady(t)
	r.add(fmt.Sprintf("start of %d pods", *crowd), "", time.Since(began).Round(time.Second).String())
	if _, err := s.Run(t.Context(), stage.PodSpec{Name: "web", Node: "node1"}); err != nil {
		t.Fatal(err)
	}
	if s.web, err = s.Sandbox(t.Context(), n, "web"); err != nil {
		t.Fatal(err)
	}
	return s
}

// allReady waits until all pods of the Deployment are ready, and no others remain.
func (s *lookup) allReady(t *testing.T) {
	t.Helper()
	last := time.Now()
	err := lab.Eventually(t.Context(), 15*time.Minute, func(ctx context.Context) error {
		time.Sleep(2 * time.Second) // a list of all pods loads the machine that is measured
		pods, err := s.Pods(ctx, "default", "app=crowd")
		if err != nil {
			return err
		}
		ready := 0
		for _, p := range pods {
			if p.Ready() && p.Metadata.DeletionTimestamp == "" {
				ready++
			}
		}
		if time.Since(last) > 30*time.Second {
			last = time.Now()
			t.Logf("%d pods, %d ready, load %s", len(pods), ready, load())
		}
		return stage.Expect(ready == *crowd && len(pods) == *crowd, "%d pods, got %d, %d of them ready", *crowd, len(pods), ready)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// install installs the agent on the node and waits until it has read everything.
func (s *lookup) install(t *testing.T, r *report) {
	t.Helper()
	ctx, began := t.Context(), time.Now()
	if err := lab.InstallAgents(ctx, s.Lab, filepath.Clean(*binary), "../../../deploy/repair.yaml"); err != nil {
		t.Fatal(err)
	}
	caller := agent.NewCaller()
	token, err := s.Kubectl(ctx, "-n", lab.AgentNamespace, "create", "token", "plumbline-reader", "--audience="+caller.Audience(), "--duration=1h")
	if err != nil {
		t.Fatal(err)
	}
	s.ask = newAsker(t, s.node, caller, strings.TrimSpace(token))
	err = lab.Eventually(ctx, time.Minute, func(ctx context.Context) error {
		d, err := s.ask.digest(ctx)
		if err != nil {
			return err
		}
		boxes, attached := d.Tables["sandboxes"].Rows, d.Tables["attachments"].Rows
		return stage.Expect(len(d.Not) == 0 && boxes >= *crowd+2 && attached >= *crowd+1, "all to be read, got %d sandboxes, %d attachments, not read: %v", boxes, attached, d.Not)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.add("agent installed, all read after", time.Since(began).Round(100*time.Millisecond).String(), "")
}

// process returns the running agent.
func (s *lookup) process(t *testing.T) lab.Process {
	t.Helper()
	return s.one(t, "plumbline-agent")
}

func (s *lookup) one(t *testing.T, name string) lab.Process {
	t.Helper()
	all, err := s.node.Processes(name)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d processes %s: %v", len(all), name, err)
	}
	return all[0]
}
