//go:build e2e

package guard

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	"plumbline.dev/plumbline/lab/stage"
)

var switches = flag.Int("switches", 1, "how often the guard is installed, switched and removed under churn")

// TestSwitch installs, switches and removes the guard while pods start and end: no pod
// start fails because of it, and pods added with it can be deleted without it.
func TestSwitch(t *testing.T) {
	l := start(t, lab.Config{Nodes: 2, Datastore: lab.KDD}, "observe")
	sc := stage.Scenario{Name: "switched", Run: func(ctx context.Context, s *stage.Stage) error {
		ended := make(chan error, 1)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			ended <- stage.Play(ctx, l, churn.Scenario, stage.Options{Tell: s.Tell, For: time.Duration(*switches) * 45 * time.Second, Keep: true})
		}()
		began := time.Now()
		for i := range *switches {
			if err := cycle(ctx, t, s, i); err != nil {
				return err
			}
		}
		s.Say("installed, switched and removed %d times in %.0f s", *switches, time.Since(began).Seconds())
		return <-ended
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Error(err)
	}
	for i := range l.Nodes {
		n, err := l.Node(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		goes(t, n)
		started(t, n)
	}
}

// cycle uses each mode once. A pod of each is deleted after the guard is removed.
func cycle(ctx context.Context, t *testing.T, s *stage.Stage, i int) error {
	var pods []string
	for _, mode := range []string{"observe", "enforce", "off"} {
		patch(t, s.Lab, mode)
		if err := nudge(ctx, s.Lab, fmt.Sprint(i, mode)); err != nil {
			return err
		}
		inForce(t, s.Lab, mode)
		name := fmt.Sprintf("of-%s-%d", mode, i)
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: fmt.Sprintf("node%d", 1+i%s.Nodes)}); err != nil {
			return err
		}
		pods = append(pods, name)
	}
	for _, name := range pods {
		if err := s.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// nudge makes the kubelets sync the agents' pods, and with them the ConfigMap.
func nudge(ctx context.Context, l *lab.Lab, word string) error {
	return lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error { // the API may be slow
		_, err := l.Kubectl(ctx, "-n", lab.AgentNamespace, "annotate", "--overwrite", "pods", "-l", "app.kubernetes.io/component=agent", "plumbline.dev/nudge="+word)
		return err
	})
}

var (
	notStarted = regexp.MustCompile(`CreatePodSandbox for pod failed.*?err="(.*?[^\\])"|NetworkPluginNotReady|cni plugin not initialized`)
	// other reasons: a pod that was deleted meanwhile, and an API that churn makes slow.
	others = []string{"context deadline exceeded", "context canceled", "connection refused", "i/o timeout", "TLS handshake timeout", "client rate limiter", "not found", "request canceled", "Client.Timeout"}
)

// started reads the kubelet's log: a sandbox that was not created must have a reason
// unrelated to the guard.
func started(t *testing.T, n *lab.Node) {
	t.Helper()
	f, err := os.Open(n.Log(lab.Kubelet))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 8<<20)
	failed, ours := 0, 0
	for in.Scan() {
		m := notStarted.FindString(in.Text())
		if m == "" {
			continue
		}
		failed++
		if !blames(m) {
			ours++
			t.Errorf("%s: %.600s", n.Name, in.Text())
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d sandboxes were not created at the first attempt, %d of them for an unknown reason", n.Name, failed, ours)
}

// blames returns whether the message has another reason, and none that the guard can
// cause.
func blames(message string) bool {
	for _, bad := range []string{"failed to find plugin", "text file busy", "plugin not initialized", "NotReady", "parsing", "exec format"} {
		if strings.Contains(message, bad) {
			return false
		}
	}
	for _, other := range others {
		if strings.Contains(message, other) {
			return true
		}
	}
	return false
}
