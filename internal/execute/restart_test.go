package execute_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A daemonSet creates the next pod of calico-node when one is deleted; it is Ready after a while, or
// never.
type daemonSet struct {
	*cluster
	t       *testing.T
	fails   string // the node whose next pod never becomes Ready
	deleted []string
	most    int // restarted pods that were not Ready at once
	next    int
	after   map[model.Ref]time.Time // when a pod becomes Ready
	strange *model.Object           // a pod that cannot be read
}

func (d *daemonSet) CalicoNodes(ctx context.Context) ([]model.Object, error) {
	all, err := d.cluster.CalicoNodes(ctx)
	if d.strange != nil {
		all = append(all, *d.strange)
	}
	return all, err
}

func calicoPod(node string, ready bool) json.RawMessage {
	body, _ := json.Marshal(model.PodBody{Node: node, Phase: model.Running, HostNetwork: true, Ready: ready, Owner: "DaemonSet/calico-node"})
	return body
}

func (d *daemonSet) RestartPod(_ context.Context, ref model.Ref, uid string) error {
	var p model.PodBody
	if o := d.objects[ref]; o.UID != uid || json.Unmarshal(o.Body, &p) != nil {
		d.t.Errorf("restarted %s", ref)
	}
	delete(d.objects, ref)
	d.deleted = append(d.deleted, p.Node)
	d.next++
	to := model.Ref{Kind: model.KindPod, Name: fmt.Sprintf("kube-system/calico-node-new%d", d.next)}
	d.objects[to] = model.Object{Ref: to, UID: "new-" + p.Node, Revision: "1", Body: calicoPod(p.Node, false)}
	if p.Node != d.fails {
		d.after[to] = d.clock.Add(40 * time.Second)
	}
	d.most = max(d.most, len(d.after))
	return nil
}

func (d *daemonSet) PodsOn(ctx context.Context, node string) ([]model.Object, error) {
	for ref, at := range d.after {
		if !d.clock.Before(at) {
			o := d.objects[ref]
			var p model.PodBody
			if err := json.Unmarshal(o.Body, &p); err != nil {
				d.t.Fatal(err)
			}
			o.Body = calicoPod(p.Node, true)
			d.objects[ref] = o
			delete(d.after, ref)
		}
	}
	return d.cluster.PodsOn(ctx, node)
}

// restarting is a plan that restarts calico-node on so many nodes.
func restarting(t *testing.T, n int) (*daemonSet, *repair.Plan) {
	t.Helper()
	d := &daemonSet{cluster: newCluster(t), t: t, after: map[model.Ref]time.Time{}}
	p := &repair.Plan{Schema: repair.Schema, ID: "plan", Cluster: "cluster"}
	for i := range n {
		node, key := fmt.Sprintf("n%d", i), fmt.Sprintf("PL1008/10.9.0.%d", i)
		ref := model.Ref{Kind: model.KindPod, Name: "kube-system/calico-node-" + node}
		d.objects[ref] = model.Object{Ref: ref, UID: "u-" + node, Revision: "1", Body: calicoPod(node, true)}
		at := model.Ref{Kind: model.KindNode, Name: node}
		d.objects[at] = model.Object{Ref: at, UID: "m-" + node, Revision: "1", Body: json.RawMessage(`{"ready":true}`)}
		p.Targets = append(p.Targets, repair.Target{Finding: key, Risk: change.Disruptive})
		p.Steps = append(p.Steps, repair.Step{ID: i + 1, Do: "restart", On: ref, For: []string{key}, Change: &change.Restart{UID: "u-" + node}})
	}
	return d, p
}

func (d *daemonSet) executor() *execute.Executor {
	x := d.cluster.executor()
	x.Kube, x.Pods, x.MaxRisk, x.Budget = d, d, change.Disruptive, execute.Default
	return x
}

// calico-node is restarted on one node after the other: the next when the one before is Ready.
func TestRestartsAreOneByOne(t *testing.T) {
	t.Parallel()
	d, p := restarting(t, 20)
	res, err := d.executor().Run(t.Context(), p, nil)
	if err != nil || len(d.deleted) != 20 || d.most != 1 || len(d.after) != 0 {
		t.Errorf("%v: %d restarted, %d at once, %d not ready at the end", err, len(d.deleted), d.most, len(d.after))
	}
	for f, v := range res.Findings {
		if v.Outcome != repair.Done {
			t.Errorf("%s: %+v", f, v)
		}
	}
}

// The run stops restarting at the first calico-node that does not become Ready.
func TestRestartsStopAtTheFirstThatFails(t *testing.T) {
	t.Parallel()
	d, p := restarting(t, 20)
	d.fails = "n3"
	res, err := d.executor().Run(t.Context(), p, nil)
	if err != nil || len(d.deleted) != 4 {
		t.Errorf("%v: restarted %q", err, d.deleted)
	}
	if v := res.Findings["PL1008/10.9.0.3"]; v.Outcome != repair.Unknown || !strings.Contains(v.Why, "is not Ready on n3") {
		t.Errorf("%+v", v)
	}
	if v := res.Findings["PL1008/10.9.0.4"]; v.Outcome != repair.Refused || !strings.Contains(v.Why, "check it before another") {
		t.Errorf("%+v", v)
	}
	// A later run of the same plan waits for it too, and goes on when it is Ready.
	past := d.disk
	if _, err := d.executor().Run(t.Context(), p, past); err != nil || len(d.deleted) != 4 {
		t.Errorf("the next run: %v: restarted %q", err, d.deleted)
	}
	for ref, o := range d.objects {
		if o.UID == "new-n3" {
			o.Body = calicoPod("n3", true)
			d.objects[ref] = o
		}
	}
	if _, err := d.executor().Run(t.Context(), p, past); err != nil || len(d.deleted) != 20 || d.most > 1 {
		t.Errorf("the last run: %v: restarted %q", err, d.deleted)
	}
}

// A calico-node that cannot be read may not be Ready: nothing is restarted.
func TestRestartsNeedAllRead(t *testing.T) {
	t.Parallel()
	d, p := restarting(t, 2)
	d.strange = &model.Object{Ref: model.Ref{Kind: model.KindPod, Name: "kube-system/calico-node-x"}, UID: "x", Revision: "1", Body: json.RawMessage(`[`)}
	res, err := d.executor().Run(t.Context(), p, nil)
	if v := res.Findings["PL1008/10.9.0.0"]; err != nil || len(d.deleted) != 0 || v.Outcome != repair.Refused || !strings.Contains(v.Why, "read a pod of calico-node") {
		t.Errorf("%v: restarted %q, %+v", err, d.deleted, v)
	}
}

// Whatever a plan names, only pods of the DaemonSet calico-node are restarted.
func TestRestartsAreOfCalicoNode(t *testing.T) {
	t.Parallel()
	d, p := restarting(t, 1)
	ref := p.Steps[0].On
	o := d.objects[ref]
	o.Body = json.RawMessage(strings.Replace(string(o.Body), "DaemonSet/calico-node", "ReplicaSet/calico-kube-controllers-5d7", 1))
	d.objects[ref] = o
	res, err := d.executor().Run(t.Context(), p, nil)
	if err != nil || len(d.deleted) != 0 || res.Findings["PL1008/10.9.0.0"].Outcome != repair.Moved {
		t.Errorf("%v: restarted %q, %+v", err, d.deleted, res)
	}
}

// A node that was removed since its calico-node was restarted does not stop the rest; one whose
// calico-node was not Ready before need not become Ready.
func TestRestartsGoOn(t *testing.T) {
	t.Parallel()
	d, p := restarting(t, 5)
	d.fails = "n3"
	if _, err := d.executor().Run(t.Context(), p, nil); err != nil || len(d.deleted) != 4 {
		t.Fatalf("%v: restarted %q", err, d.deleted)
	}
	for ref, o := range d.objects { // n3 is removed, with its pod
		if o.UID == "new-n3" || o.UID == "m-n3" {
			delete(d.objects, ref)
		}
	}
	if _, err := d.executor().Run(t.Context(), p, d.disk); err != nil || len(d.deleted) != 5 {
		t.Errorf("a node is gone: %v: restarted %q", err, d.deleted)
	}
	d, p = restarting(t, 3)
	ref := p.Steps[1].On
	o := d.objects[ref]
	o.Body = calicoPod("n1", false)
	d.objects[ref] = o
	d.fails = "n1"
	if _, err := d.executor().Run(t.Context(), p, nil); err != nil || len(d.deleted) != 3 {
		t.Errorf("one was not Ready before: %v: restarted %q", err, d.deleted)
	}
}
