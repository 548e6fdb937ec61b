//go:build e2e

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// rights: without any one of its capabilities something that can be named fails, and the
// agent says so. What it does not need it does not have.
func rights(t *testing.T, s *stage.Stage, a *asker) {
	ctx := t.Context()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	// A configuration that only another user may read, as some installers leave it.
	const conf = "/etc/cni/net.d/99-other.conflist"
	if err := n.WriteFile(conf, `{"name":"other","cniVersion":"0.3.1","plugins":[{"type":"loopback"}]}`); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Exec(ctx, "sh", "-c", "chmod 0600 "+conf+" && chown 1000 "+conf); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = n.Exec(context.WithoutCancel(ctx), "rm", conf) }()
	has := capabilities(t, s.Lab)
	want := map[string]string{
		"SYS_ADMIN": "attachments", "SYS_PTRACE": "links", "DAC_READ_SEARCH": "cniconfigs", "NET_BROADCAST": "a watch ended",
	}
	// To change something; the tests of the verbs know what happens without.
	repair := []string{"NET_ADMIN"}
	if len(has) != len(want)+len(repair) || !slices.Equal(has[len(want):], repair) {
		t.Fatalf("the manifest asks for %v, we can justify %v and %v", has, want, repair)
	}
	for _, drop := range has[:len(want)] {
		patch(t, s.Lab, slices.DeleteFunc(slices.Clone(has), func(c string) bool { return c == drop }))
		err := lab.Eventually(ctx, 60*time.Second, func(ctx context.Context) error {
			if drop == "NET_BROADCAST" {
				out, err := s.Kubectl(ctx, "-n", "plumbline-system", "logs", "ds/plumbline-agent", "--tail=20")
				return errors.Join(err, stage.Expect(strings.Contains(out, want[drop]), "%q in the log, got %s", want[drop], out))
			}
			snap := a.tables(ctx, nil)
			if slices.Contains(unseen(snap), want[drop]) {
				return nil
			}
			for _, c := range snap.NodeState["node1"].CNIConfigs {
				if want[drop] == "cniconfigs" && c.Error != "" {
					return nil
				}
			}
			return fmt.Errorf("not seen: %v", unseen(snap))
		})
		if err != nil {
			t.Errorf("without %s: %v", drop, err)
		}
	}
	patch(t, s.Lab, has)
}

type daemonSet struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					SecurityContext struct{ Capabilities struct{ Add []string } }
				}
			}
		}
	}
}

func capabilities(t *testing.T, l *lab.Lab) []string {
	t.Helper()
	var d daemonSet
	if err := l.Get(t.Context(), "/apis/apps/v1/namespaces/plumbline-system/daemonsets/plumbline-agent", &d); err != nil {
		t.Fatal(err)
	}
	return d.Spec.Template.Spec.Containers[0].SecurityContext.Capabilities.Add
}

// patch gives the agents these capabilities and waits until they run with them.
func patch(t *testing.T, l *lab.Lab, caps []string) {
	t.Helper()
	b, err := json.Marshal(caps)
	if err != nil {
		t.Fatal(err)
	}
	p := fmt.Sprintf(`[{"op": "replace", "path": "/spec/template/spec/containers/0/securityContext/capabilities/add", "value": %s}]`, b)
	for _, args := range [][]string{
		{"patch", "daemonset", "plumbline-agent", "--type=json", "-p", p},
		{"rollout", "status", "daemonset/plumbline-agent", "--timeout=60s"},
	} {
		if _, err := l.Kubectl(t.Context(), append([]string{"-n", "plumbline-system"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
}
