//go:build e2e

package controller

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/load"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

// What is loaded: as many as one cluster had when its users noticed.
const (
	orphans = 63_000
	leaked  = 10_000
)

// TestLabBounds: many findings are few and small objects, written slowly, that count all of them; every row is served.
func TestLabBounds(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.KDD})
	ctx := t.Context()
	permitted(t, l)
	sum, err := load.Run(ctx, l, load.Config{Nodes: 500, PodsPerNode: 30, Faults: load.Faults{load.OrphanHandle: orphans, load.Leaked: leaked}})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range sum.Faults {
		want = append(want, stage.NamesOf(f)...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	t.Logf("%d pods, %d findings are loaded", sum.Pods, len(want))

	const at = "127.0.0.1:9479"
	o, err := Flags([]string{
		"--kubeconfig", product.KubeconfigOf(t, l, lab.AgentNamespace, "plumbline-controller"), "--namespace", lab.AgentNamespace, "--name", "controller-0",
		"--probes", "", "--serve", at, "--settle", "5s", "--state-dir", t.TempDir(), "--log-format", "json",
	}, os.Getenv, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	runs, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- Run(runs, o) }()
	var all v1alpha1.FindingList
	var size int
	err = lab.Eventually(ctx, 5*time.Minute, func(ctx context.Context) error {
		text, err := l.Do(ctx, http.MethodGet, "/apis/plumbline.dev/v1alpha1/findings", "")
		if err != nil {
			return err
		}
		all, size = v1alpha1.FindingList{}, len(text)
		count := int64(0)
		err = json.Unmarshal(text, &all)
		for _, f := range all.Items {
			count += f.Status.Count
		}
		return cmp.Or(err, stage.Expect(count == int64(len(want)), "objects that count %d findings, got %d in %d", len(want), count, len(all.Items)))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d objects with %d kB count all %d findings after %.0f s", len(all.Items), size>>10, len(want), time.Since(began).Seconds())
	if len(all.Items) > v1alpha1.MaxFindings || size > 16<<20 {
		t.Errorf("%d objects, %d bytes", len(all.Items), size)
	}
	for i := range all.Items {
		if text, err := json.Marshal(&all.Items[i]); err != nil || len(text) > 32<<10 {
			t.Errorf("%s has %d bytes (%v)", all.Items[i].Name, len(text), err)
		}
	}
	everyRow(t, l, "https://"+at, want)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	slowly(t, l)
}

// permitted creates the kinds and the permissions of a controller.
func permitted(t *testing.T, l *lab.Lab) {
	t.Helper()
	if _, err := l.Kubectl(t.Context(), "create", "namespace", lab.AgentNamespace); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"crds", "identities", "controller-rights"} {
		out := product.HelmOutput(t, l, "template", "plumbline", product.Chart(t), "--namespace", lab.AgentNamespace, "--set", "controller.enabled=true",
			"--kube-version", "1.34", "--show-only", "templates/"+part+".yaml")
		if err := l.Apply(t.Context(), out); err != nil {
			t.Fatal(err)
		}
	}
}

// everyRow asks as check --from-controller does.
func everyRow(t *testing.T, l *lab.Lab, at string, want []string) {
	t.Helper()
	caller := agent.NewCaller()
	token, err := l.Kubectl(t.Context(), "-n", lab.AgentNamespace, "create", "token", "plumbline-reader", "--audience", caller.Audience())
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // self-signed
	ask := func(head http.Header) (*http.Response, error) {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/"+agent.PathFindings, nil)
		if err != nil {
			return nil, err
		}
		q.Header = head
		return c.Do(q)
	}
	good := caller.Headers(strings.TrimSpace(token), agent.Controller, http.MethodGet, agent.PathFindings, nil, nil)
	for name, bad := range map[string]http.Header{
		"nobody": {}, "unsigned": {agent.Header: good[agent.Header]},
		"signed for an agent":     caller.Headers(strings.TrimSpace(token), "node1", http.MethodGet, agent.PathFindings, nil, nil),
		"signed with another key": agent.NewCaller().Headers(strings.TrimSpace(token), agent.Controller, http.MethodGet, agent.PathFindings, nil, nil),
	} {
		if r, err := ask(bad); err != nil || r.StatusCode/100 != 4 {
			t.Errorf("%s is not refused: %+v, %v", name, r, err)
		}
	}
	began := time.Now()
	r, err := ask(good)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	told, err := cluster.ReadRows(agent.Verified(r.Body, agent.Expected{}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range told.Findings {
		got = append(got, told.Findings[i].Key())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	t.Logf("all %d rows in %.1f s, judged %s before", len(got), time.Since(began).Seconds(), told.Age)
}

// slowly reads in the audit log how fast the controller wrote.
func slowly(t *testing.T, l *lab.Lab) {
	t.Helper()
	log, err := os.ReadFile(l.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	var at []time.Time
	for line := range bytes.Lines(log) {
		var r struct {
			Verb                     string
			User                     struct{ Username string }
			ObjectRef                struct{ Resource string }
			RequestReceivedTimestamp time.Time
		}
		if json.Unmarshal(line, &r) == nil && strings.HasSuffix(r.User.Username, ":plumbline-controller") && slices.Contains([]string{"create", "update", "delete"}, r.Verb) &&
			slices.Contains([]string{"findings", "events"}, r.ObjectRef.Resource) {
			at = append(at, r.RequestReceivedTimestamp)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	most := 0
	for i, from := 0, 0; i < len(at); i++ {
		for at[i].Sub(at[from]) >= time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	t.Logf("%d writes, at most %d in a second", len(at), most)
	if most > 5 || len(at) == 0 {
		t.Errorf("%d writes in a second, %d in all", most, len(at))
	}
}
