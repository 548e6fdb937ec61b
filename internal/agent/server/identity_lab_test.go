//go:build e2e

package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
)

// leases are the agents' Leases in the lab.
type leases struct {
	l *lab.Lab

	mu  sync.Mutex
	has map[string]agent.Identity
}

type leaseObject struct {
	Metadata struct {
		Name, ResourceVersion string
		Annotations           map[string]string
		OwnerReferences       []struct{ Kind, Name, UID string }
	}
}

func leasePath(node string) string {
	return "/apis/coordination.k8s.io/v1/namespaces/plumbline-system/leases/agent-" + node
}

func (k *leases) Identity(ctx context.Context, node string, fresh bool) (agent.Identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if id, ok := k.has[node]; ok && !fresh {
		return id, nil
	}
	var o leaseObject
	if err := k.l.Get(ctx, leasePath(node), &o); err != nil {
		return agent.Identity{}, err
	}
	id, err := agent.ReadIdentity(o.Metadata.Name, o.Metadata.Annotations)
	if err == nil {
		k.has = map[string]agent.Identity{node: id}
	}
	return id, err
}

// signatures: the agent signs with the key in the Lease of its node, which no other agent can
// write; what is sent again is refused; and the key of a restarted agent is taken up.
func signatures(t *testing.T, l *lab.Lab, a *asker) {
	ctx := t.Context()
	var o leaseObject
	if err := lab.Eventually(ctx, 20*time.Second, func(ctx context.Context) error { return l.Get(ctx, leasePath("node1"), &o) }); err != nil {
		t.Fatal(err)
	}
	pods, err := l.Pods(ctx, "plumbline-system", "app.kubernetes.io/component=agent")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%v, %v", pods, err)
	}
	pod := pods[0].Metadata
	if refs := o.Metadata.OwnerReferences; len(refs) != 1 || refs[0].Kind != "Pod" || refs[0].UID != pod.UID {
		t.Errorf("the lease belongs to %+v, want pod %s", refs, pod.UID)
	}
	id, err := a.Identities.Identity(ctx, "node1", false)
	if err != nil || strings.Join(id.Names, " ") != "node1" || id.BootID == "" {
		t.Errorf("published: %+v, %v", id, err)
	}
	replayed(t, a)
	nobodyElse(t, l, pod.Name, pod.UID)
	if _, err := l.Kubectl(ctx, "-n", "plumbline-system", "delete", "pod", pod.Name); err != nil {
		t.Fatal(err)
	}
	err = lab.Eventually(ctx, 60*time.Second, func(ctx context.Context) error {
		w, err := a.Verification(ctx, "node1", url.Values{"ip": {"10.244.9.9"}})
		if err == nil && !w.Complete {
			err = fmt.Errorf("%v", w.Missing)
		}
		return err
	})
	again, _ := a.Identities.Identity(ctx, "node1", false)
	if err != nil || again.Key.Equal(id.Key) {
		t.Errorf("after a restart: %v, the key is %v", err, again.Key)
	}
}

// replayed: the answer to one request is not an answer to the next.
func replayed(t *testing.T, a *asker) {
	var first []byte
	again := &agent.Fleet{Now: a.Now, Identities: a.Identities, Open: func(ctx context.Context, node, path string, q url.Values) (io.ReadCloser, error) {
		if first == nil {
			body, err := a.Open(ctx, node, path, q)
			if err != nil {
				return nil, err
			}
			if first, err = io.ReadAll(body); err != nil {
				return nil, err
			}
		}
		return io.NopCloser(bytes.NewReader(first)), nil
	}}
	if _, err := again.Verification(t.Context(), "node1", url.Values{"ip": {"10.244.9.9"}}); err != nil {
		t.Fatal(err)
	}
	if w, err := again.Verification(t.Context(), "node1", url.Values{"ip": {"10.244.9.9"}}); err == nil || !strings.Contains(err.Error(), "belongs to another request") {
		t.Errorf("an answer that is sent again: %+v, %v", w, err)
	}
}

// nobodyElse: a rooted node has its agent's token. It can write the Lease of its own node, and of
// no other.
func nobodyElse(t *testing.T, l *lab.Lab, pod, uid string) {
	ctx := t.Context()
	bound, err := l.Kubectl(ctx, "-n", "plumbline-system", "create", "token", "plumbline-agent", "--bound-object-kind=Pod", "--bound-object-name="+pod, "--bound-object-uid="+uid)
	if err != nil {
		t.Fatal(err)
	}
	unbound := token(t, l, "plumbline-system", "plumbline-agent", "")
	as := func(token string, args ...string) (string, error) {
		config := filepath.Join(t.TempDir(), "kubeconfig")
		text, err := l.Kubectl(ctx, "config", "view", "--raw", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
		if err != nil {
			return "", err
		}
		ca, err := l.Kubectl(ctx, "config", "view", "--raw", "--minify", "-o", "jsonpath={.clusters[0].cluster.certificate-authority-data}")
		if err != nil {
			return "", err
		}
		doc := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q, certificate-authority-data: %q}}]\nusers: [{name: a, user: {token: %q}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n", text, ca, strings.TrimSpace(token))
		if err := errors.Join(err, os.WriteFile(config, []byte(doc), 0o600)); err != nil {
			return "", err
		}
		return l.Kubectl(ctx, append([]string{"--kubeconfig=" + config, "-n", "plumbline-system"}, args...)...)
	}
	patch := []string{"--type=merge", "-p", `{"metadata":{"annotations":{"tried":"yes"}}}`}
	lease := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q,"namespace":"plumbline-system"}}`, name)
	}
	for _, name := range []string{"agent-node2", "plumbline-apply"} { // made by somebody else
		if _, err := l.Do(ctx, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/plumbline-system/leases", lease(name)); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		_, _ = l.Kubectl(context.WithoutCancel(ctx), "-n", "plumbline-system", "delete", "lease", "agent-node2", "plumbline-apply")
	}()
	if out, err := as(bound, append([]string{"patch", "lease", "agent-node1"}, patch...)...); err != nil {
		t.Errorf("its own lease: %s, %v", out, err)
	}
	for name, c := range map[string]struct {
		token string
		args  []string
	}{
		"another node's":       {bound, append([]string{"patch", "lease", "agent-node2"}, patch...)},
		"another node's, gone": {bound, []string{"delete", "lease", "agent-node2"}},
		"that of apply":        {bound, append([]string{"patch", "lease", "plumbline-apply"}, patch...)},
		"without a pod":        {unbound, append([]string{"patch", "lease", "agent-node1"}, patch...)},
	} {
		if out, err := as(c.token, c.args...); err == nil || !strings.Contains(err.Error()+out, "plumbline-agent-lease") {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
	file := filepath.Join(t.TempDir(), "lease.json")
	if err := os.WriteFile(file, []byte(lease("agent-node3")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := as(bound, "create", "-f", file); err == nil || !strings.Contains(err.Error()+out, "plumbline-agent-lease") {
		t.Errorf("a new lease of another node: %s, %v", out, err)
	}
}
