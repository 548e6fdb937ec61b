package cluster

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
)

// connected is a client of a server that answers so.
func connected(t *testing.T, answer http.HandlerFunc) *kube.Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	doc := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q}}]\nusers: [{name: a, user: {token: own}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n", srv.URL)
	if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect(kube.Options{Kubeconfig: file, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lease(t *testing.T, node, boot string, names ...string) (map[string]any, ed25519.PublicKey) {
	t.Helper()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	id := agent.Identity{Node: node, Key: public, BootID: boot, Names: names}
	return map[string]any{"metadata": map[string]any{"name": agent.LeasePrefix + node, "annotations": id.Annotations()}}, public
}

// The keys are listed once; the one that does not fit is read again; a name counts only in the
// boot that the kubelet reports.
func TestIdentities(t *testing.T) {
	t.Parallel()
	first, k1 := lease(t, "n1", "b1", "n1", "old-n1")
	second, k2 := lease(t, "n1", "b2", "n1")
	other := map[string]any{"metadata": map[string]any{"name": "plumbline-apply"}}
	lists, gets := 0, 0
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		const at = "/apis/coordination.k8s.io/v1/namespaces/plumbline-system/leases"
		switch r.URL.Path {
		case at:
			lists++
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "LeaseList", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{other, first}})
		case at + "/agent-n1":
			gets++
			_ = json.NewEncoder(w).Encode(second)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	ids := newIdentities(c, "plumbline-system")
	for range 3 {
		if id, err := ids.Identity(t.Context(), "n1", false); err != nil || !id.Key.Equal(k1) {
			t.Fatalf("%+v, %v", id, err)
		}
	}
	if lists != 1 || gets != 0 {
		t.Errorf("%d lists and %d gets", lists, gets)
	}
	if names, ok := ids.names(t.Context(), "n1", "b2"); !ok || strings.Join(names, " ") != "n1" || gets != 1 {
		t.Errorf("names: %v %v", names, ok)
	}
	for _, boot := range []string{"b1", "", "b3"} {
		if names, ok := ids.names(t.Context(), "n1", boot); ok {
			t.Errorf("names of another boot than %q: %v", boot, names)
		}
	}
	if id, err := ids.Identity(t.Context(), "n1", true); err != nil || !id.Key.Equal(k2) {
		t.Errorf("read again: %+v, %v", id, err)
	}
	if id, err := ids.Identity(t.Context(), "n2", false); err == nil {
		t.Errorf("an agent without a lease: %+v", id)
	}
	if lists != 1 {
		t.Errorf("%d lists", lists)
	}
}

// Without the policy that protects the keys nothing is repaired.
func TestAgentsAreTrustedUnderThePolicy(t *testing.T) {
	t.Parallel()
	const policy, binding = `{"spec":{"failurePolicy":"Fail"}}`, `{"spec":{"policyName":"plumbline-agent-lease","validationActions":["Deny"]}}`
	for name, c := range map[string]struct {
		policy, binding string
		ok              bool
	}{
		"in force":               {policy, binding, true},
		"and audits":             {policy, strings.Replace(binding, `["Deny"]`, `["Audit","Deny"]`, 1), true},
		"no policy":              {"", binding, false},
		"no binding":             {policy, "", false},
		"warns only":             {policy, strings.Replace(binding, "Deny", "Warn", 1), false},
		"fails open":             {strings.Replace(policy, "Fail", "Ignore", 1), binding, false},
		"for some objects":       {policy, strings.Replace(binding, `{"spec":{`, `{"spec":{"matchResources":{},`, 1), false},
		"binding of another one": {policy, strings.Replace(binding, "agent-lease", "other", 1), false},
	} {
		client := connected(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Unix(1_800_000_000, 0).UTC().Format(http.TimeFormat))
			text := c.policy
			if strings.Contains(r.URL.Path, "bindings/") {
				text = c.binding
			}
			if text == "" || !strings.HasSuffix(r.URL.Path, "/"+leasePolicy) {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_, _ = w.Write([]byte(text))
		})
		r := &Run{Cluster: &Cluster{client: client, fleet: &fleet{Fleet: &agent.Fleet{}, namespace: "plumbline-system"}}}
		if err := r.trustAgents(t.Context()); (err == nil) != c.ok || (r.fleet.Identities != nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An agent of another version refuses what it does not know: it is called older or newer, not
// forbidden.
func TestAgentOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]error{"2": agent.ErrOlder, "99": agent.ErrNewer, "": kube.ErrForbidden, fmt.Sprint(agent.Version): kube.ErrForbidden} {
		client := connected(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Plumbline-Token") != "tok" || r.Header.Get("Plumbline-Signature") == "" {
				t.Errorf("%v", r.Header)
			}
			if version != "" {
				w.Header().Set(agent.VersionHeader, version)
			}
			http.Error(w, "the token is not valid on this node", http.StatusForbidden)
		})
		c := &Cluster{client: client}
		f := &fleet{pods: map[string]kube.AgentPod{"n1": {Node: "n1", Namespace: "plumbline-system", Name: "plumbline-agent-x"}}}
		readers := &agentTokens{caller: agent.NewCaller()}
		readers.request = func(context.Context) (string, time.Time, error) { return "tok", time.Time{}, nil }
		if _, err := c.openAgent(t.Context(), f, readers, "n1", agent.PathDigest, nil); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", version, err, want)
		}
	}
}
