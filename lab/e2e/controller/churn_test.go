//go:build e2e

package controller

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	quiet  = flag.Duration("quiet", 3*time.Minute, "how long the churn runs without a fault")
	faulty = flag.Duration("faulty", 10*time.Minute, "how long it runs with faults")
	modes  = flag.String("modes", "kdd", "datastores of the churn")
)

// TestChurn: three nodes churn, while Felix, kube-controllers, agents and the leader are killed now and then, with the
// settling times and rules as they are installed. Without a fault nothing is confirmed and no alert fires; with 25 faults,
// exactly those.
func TestChurn(t *testing.T) {
	for _, mode := range strings.Split(*modes, ",") {
		t.Run(mode, func(t *testing.T) { churned(t, lab.Datastore(mode)) })
	}
}

var slots = []string{"127.0.0.1:18081", "127.0.0.1:18082"}

func churned(t *testing.T, mode lab.Datastore) {
	b := startOn(t, lab.Config{Nodes: 3, Datastore: mode}, 0)
	m := newMonitor(b, "", slots...)
	d := &disturber{monitor: m}
	d.replace(0)
	d.replace(1)
	sc := churn.Scenario
	run := sc.Run
	sc.Run = func(ctx context.Context, s *stage.Stage) error {
		pods, err := churn.Quiet(ctx, s)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- run(ctx, s) }()
		d.watch(ctx, *quiet)
		if len(d.first) > 0 || len(d.alerts) > 0 {
			t.Errorf("without a fault: confirmed %v, alerts %v", d.first, d.alerts)
		}
		faults, err := churn.Break(ctx, s, pods)
		if err != nil {
			return err
		}
		d.watch(ctx, *faulty)
		d.judge(faults)
		cancel()
		<-done // it was stopped in the middle of the churn
		return nil
	}
	if err := stage.Play(t.Context(), b.Lab, sc, stage.Options{Keep: true, For: time.Hour, Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d leaders and %d agents were killed", d.leaders, d.agents)
}

// A disturber kills leaders and agents, and writes down what is confirmed and what fires.
type disturber struct {
	*monitor
	names           [2]string // of the replicas at the slots
	leaders, agents int
	looks           int
	first           map[string]time.Time // since when a finding is confirmed, by its name
	last            []string             // what was confirmed at the last look
	alerts          map[string]time.Time
}

// replace starts a replica at a slot.
func (d *disturber) replace(slot int) {
	d.names[slot] = fmt.Sprintf("controller-%d", len(d.replicas))
	d.more = []string{"--probes", slots[slot]}
	d.run(d.names[slot])
}

func (d *disturber) watch(ctx context.Context, long time.Duration) {
	began := time.Now()
	for d.looks++; time.Since(began) < long && ctx.Err() == nil; d.looks++ {
		switch { // every five seconds
		case d.looks%100 == 0: // less often than the longest settling time: each leader waits anew for what is not confirmed yet
			d.killLeader(ctx)
		case d.looks%12 == 0:
			d.killAgent(ctx)
		}
		d.look(ctx)
		if d.looks%12 == 0 {
			d.t.Logf("%s: %d confirmed, alerts %v", time.Now().Format(time.TimeOnly), len(d.last), d.alerts)
		}
		time.Sleep(5 * time.Second)
	}
}

func (d *disturber) killLeader(ctx context.Context) {
	who, err := d.leader(ctx)
	slot := slices.Index(d.names[:], who)
	if err != nil || slot < 0 {
		d.t.Logf("no leader to kill: %q, %v", who, err) // the API is slow now and then
		return
	}
	if err := d.replicas[who].Process.Kill(); err != nil {
		d.t.Error(err)
	}
	_ = d.replicas[who].Wait()
	d.leaders++
	d.replace(slot)
}

func (d *disturber) killAgent(ctx context.Context) {
	out, err := d.Kubectl(ctx, "-n", lab.AgentNamespace, "get", "pods", "-l", "app.kubernetes.io/component=agent", "-o", "name")
	if pods := strings.Fields(out); err == nil && len(pods) > 0 {
		if _, err := d.Kubectl(ctx, "-n", lab.AgentNamespace, "delete", pods[d.looks/12%len(pods)], "--wait=false", "--grace-period=0", "--force"); err == nil {
			d.agents++
		}
	}
}

// look writes down what is there now. A node that joins or leaves is not covered for a moment, which PL9001 says.
func (d *disturber) look(ctx context.Context) {
	now := time.Now()
	all, err := d.findings(ctx)
	if err != nil {
		return // the API server hangs now and then
	}
	if d.first == nil {
		d.first, d.alerts = map[string]time.Time{}, map[string]time.Time{}
	}
	d.last = slices.DeleteFunc(subjects(all), func(s string) bool { return strings.HasPrefix(s, "PL9001/") })
	for _, s := range d.last {
		if d.first[s].IsZero() {
			d.first[s] = now
		}
	}
	firing, err := d.firing(ctx)
	if err != nil {
		d.t.Errorf("Prometheus: %v", err)
	}
	for name := range firing {
		if d.alerts[name].IsZero() {
			d.alerts[name] = now
		}
	}
}

// judge: exactly the faults are confirmed, none before it settled, and the alerts of their codes alone fire.
func (d *disturber) judge(faults []churn.Fault) {
	var want []string
	var late []time.Duration
	for _, f := range faults {
		want = append(want, f.Name)
		at, is := d.first[f.Name]
		if is && at.Before(f.Begun.Add(f.Settles-time.Second)) {
			d.t.Errorf("%s was confirmed after %s, and settles for %s", f.Name, at.Sub(f.Begun), f.Settles)
		}
		late = append(late, at.Sub(f.At.Add(f.Settles)))
	}
	slices.Sort(want)
	// Felix removes the route of a pod whose endpoint is gone. With etcd that is confirmed before the endpoint
	// is, which explains it from then on.
	follows := func(name string) bool {
		pod, is := strings.CutPrefix(name, "PL3003/")
		return is && d.Datastore == lab.Etcd && slices.Contains(want, "PL2001/"+pod)
	}
	if last := slices.DeleteFunc(slices.Clone(d.last), follows); !slices.Equal(last, want) {
		d.t.Errorf("confirmed %q, want %q", d.last, want)
	}
	told := slices.Clone(want)
	for name := range d.first {
		switch {
		case follows(name):
			told = append(told, name)
			d.t.Logf("%s was confirmed too", name)
		case !slices.Contains(want, name):
			d.t.Errorf("%s was confirmed and is no fault", name)
		}
	}
	for name := range d.alerts {
		_, code, _ := strings.Cut(name, " ")
		if !slices.ContainsFunc(told, func(w string) bool { return code != "" && strings.HasPrefix(w, code+"/") }) {
			d.t.Errorf("alert %s fired", name)
		}
	}
	slices.Sort(late)
	d.t.Logf("%d faults: objects %.0f s after their settling time (median), %.0f s at most; an object is written once a minute; alerts %v",
		len(late), late[len(late)/2].Seconds(), late[len(late)-1].Seconds(), d.alerts)
}
