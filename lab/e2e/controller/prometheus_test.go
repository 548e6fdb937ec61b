//go:build e2e

package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

const (
	probes     = "127.0.0.1:18081"
	prometheus = "127.0.0.1:19090"
)

// TestPrometheus: a real Prometheus scrapes the controller and loads the rules of the chart, with shorter
// waits. A fault fires the alert of its code, its end resolves it; a controller that is gone is told.
// Every expression of the dashboard gives data, and no label names a pod.
func TestPrometheus(t *testing.T) {
	b := start(t, lab.KDD, 0)
	b.more = []string{"--settle", settle.String(), "--probes", probes}
	b.run("controller-0")
	m := newMonitor(b, briefly)
	b.eventually("scraped", time.Minute, func(ctx context.Context) error {
		n, err := m.value(ctx, "plumbline_leader")
		return expect(err, n == 1, "a leader, got %v", n)
	})
	b.eventually("judged, and no alert is left of the beginning", time.Minute, func(ctx context.Context) error {
		n, err := m.value(ctx, `sum(plumbline_agents{state="watched"})`)
		firing, alertErr := m.firing(ctx)
		if err == nil {
			err = alertErr
		}
		return expect(err, n == 2 && len(firing) == 0, "two agents watched and no alert, got %v and %v", n, firing)
	})
	sc := stage.Scenario{Name: "watched", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.Run(ctx, stage.PodSpec{Name: "freed", Node: "node1"})
		if err != nil {
			return err
		}
		m.clean(pod.Status.PodIP)
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
			return err
		}
		began := time.Now()
		b.becomes("Confirmed", settle+35*time.Second)
		m.alert("PodNetworkBroken PL1002", true, 20*time.Second)
		t.Logf("fault to firing alert: %.1f s, with %s of settling, one second between scrapes and two before firing", time.Since(began).Seconds(), settle)
		m.clean(pod.Status.PodIP)
		return nil
	}}
	if err := stage.Play(t.Context(), b.Lab, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	m.alert("PodNetworkBroken PL1002", false, 90*time.Second)
	m.dashboard()
	m.agents()
	old := b.replicas["controller-0"]
	if err := old.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	m.alert("PlumblineDown", true, 30*time.Second)
	b.run("controller-1")
	m.alert("PlumblineDown", false, time.Minute)
}

// A monitor is a Prometheus beside the cluster.
type monitor struct{ *bench }

// briefly is how long something must last until its alert fires, instead of what the rules say.
const briefly = "2s"

// newMonitor starts one that scrapes controllers at these addresses, or at the usual one.
func newMonitor(b *bench, wait string, targets ...string) *monitor {
	b.t.Helper()
	dir := b.t.TempDir()
	rules, err := os.ReadFile(filepath.Join(product.Chart(b.t), "files", "rules.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	if wait != "" {
		rules = regexp.MustCompile(`for: \d+[mh]`).ReplaceAll(rules, []byte("for: "+wait))
	}
	var agents []string
	for n := range b.Nodes {
		agents = append(agents, fmt.Sprintf("192.168.77.%d:9480", 11+n))
	}
	if len(targets) == 0 {
		targets = []string{probes}
	}
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yaml]\nscrape_configs:\n- {job_name: plumbline, static_configs: [{targets: [%s]}]}\n- {job_name: agents, static_configs: [{targets: [%s]}]}\n",
		strings.Join(targets, ", "), strings.Join(agents, ", "))
	for name, text := range map[string]string{"rules.yaml": string(rules), "prometheus.yml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(b.t.Context(), tool(b.t, "prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+prometheus)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		b.t.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if said, err := os.ReadFile(log.Name()); b.t.Failed() && err == nil {
			b.t.Logf("prometheus said:\n%.4000s", said)
		}
	})
	return &monitor{b}
}

// tool is a program of Debian's package prometheus, installed or unpacked by .ci/prometheus.
func tool(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, ".cache/plumbline/prometheus/usr/bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is needed: .ci/prometheus", name)
	}
	return path
}

func (m *monitor) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+prometheus+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

// query gives the values of an expression.
func (m *monitor) query(ctx context.Context, expr string) (out []string, err error) {
	var a struct {
		Status, Error string
		Data          struct{ Result []struct{ Value []any } }
	}
	if err := m.get(ctx, "/api/v1/query?query="+url.QueryEscape(expr), &a); err != nil {
		return nil, err
	}
	for _, r := range a.Data.Result {
		if len(r.Value) == 2 {
			out = append(out, fmt.Sprint(r.Value[1]))
		}
	}
	return out, expect(nil, a.Status == "success", "an answer to %s, got %s", expr, a.Error)
}

func (m *monitor) value(ctx context.Context, expr string) (n float64, err error) {
	all, err := m.query(ctx, expr)
	if err != nil || len(all) != 1 {
		return 0, fmt.Errorf("%s: %v, %w", expr, all, err)
	}
	_, err = fmt.Sscan(all[0], &n)
	return n, err
}

// firing are the alerts that fire, with their codes.
func (m *monitor) firing(ctx context.Context) (map[string]string, error) {
	var a struct {
		Data struct {
			Alerts []struct {
				State       string
				Labels      struct{ Alertname, Code string }
				Annotations map[string]string
			}
		}
	}
	err := m.get(ctx, "/api/v1/alerts", &a)
	out := map[string]string{}
	for _, x := range a.Data.Alerts {
		if x.State == "firing" {
			out[strings.TrimSpace(x.Labels.Alertname+" "+x.Labels.Code)] = x.Annotations["summary"] + " " + x.Annotations["runbook_url"]
		}
	}
	return out, err
}

// alert waits until an alert fires, or does not any more. No other may.
func (m *monitor) alert(name string, fires bool, within time.Duration) {
	m.t.Helper()
	says := ""
	m.eventually(fmt.Sprintf("%s fires: %t", name, fires), within, func(ctx context.Context) error {
		all, err := m.firing(ctx)
		if says = all[name]; err == nil {
			_, is := all[name]
			err = expect(nil, is == fires, "alert %s to fire: %t, got %v", name, fires, all)
		}
		return err
	})
	if fires {
		m.t.Log(says)
	}
}

// clean: no label has the name of a pod or an address.
func (m *monitor) clean(address string) {
	m.t.Helper()
	page := m.page(probes)
	for _, word := range []string{address, "freed", "watched\"", "asker"} {
		for line := range strings.Lines(page) {
			if strings.Contains(line, word) && !strings.HasPrefix(line, "plumbline_agents{") && !strings.HasPrefix(line, "#") {
				m.t.Errorf("a label names %s: %s", word, line)
			}
		}
	}
}

// page is what an address serves, which must be as Prometheus' own check wants it.
func (m *monitor) page(address string) string {
	m.t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		m.t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		m.t.Fatal(err)
	}
	check := exec.CommandContext(m.t.Context(), tool(m.t, "promtool"), "check", "metrics")
	check.Stdin = bytes.NewReader(page)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		m.t.Errorf("promtool: %v\n%s", err, out)
	}
	return string(page)
}

// agents serve metrics of their own where the chart's value says so.
func (m *monitor) agents() {
	m.t.Helper()
	patch := `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--metrics=:9480"}]`
	if _, err := m.Kubectl(m.t.Context(), "-n", lab.AgentNamespace, "patch", "daemonset", "plumbline-agent", "--type=json", "-p", patch); err != nil {
		m.t.Fatal(err)
	}
	m.eventually("metrics of agents", 90*time.Second, func(ctx context.Context) error {
		n, err := m.value(ctx, `count(plumbline_agent_tables{state="read"} > 10)`)
		return expect(err, n == 2, "two agents, got %v", n)
	})
	m.page("192.168.77.11:9480")
}

// dashboard: every expression gives data.
func (m *monitor) dashboard() {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(product.Chart(m.t), "files", "dashboard.json"))
	if err != nil {
		m.t.Fatal(err)
	}
	var made struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(text, &made); err != nil {
		m.t.Fatal(err)
	}
	var all []string
	for _, p := range made.Panels {
		for _, q := range p.Targets {
			all = append(all, q.Expr)
		}
	}
	if len(all) < 10 {
		m.t.Fatalf("the dashboard has %d expressions", len(all))
	}
	for _, expr := range all {
		err := lab.Eventually(m.t.Context(), 10*time.Second, func(ctx context.Context) error {
			got, err := m.query(ctx, expr)
			return expect(err, len(got) > 0, "data")
		})
		if err != nil {
			m.t.Errorf("%s: %v", expr, err)
		}
	}
	m.t.Logf("%d expressions of the dashboard", len(all))
}
