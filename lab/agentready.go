package lab

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// A daemonSet has the fields of a DaemonSet that show whether its rollout is done.
type daemonSet struct {
	Metadata struct{ Generation int64 }
	Status   struct {
		ObservedGeneration                                          int64
		DesiredNumberScheduled, UpdatedNumberScheduled, NumberReady int
	}
}

// done returns nil if all nodes have the newest pod and it is ready.
func (d daemonSet) done(nodes int) error {
	s := d.Status
	switch {
	case s.ObservedGeneration < d.Metadata.Generation:
		return fmt.Errorf("generation %d is not observed yet", d.Metadata.Generation)
	case s.DesiredNumberScheduled != nodes, s.UpdatedNumberScheduled != nodes, s.NumberReady != nodes:
		return fmt.Errorf("%d nodes, %d scheduled, %d updated, %d ready", nodes, s.DesiredNumberScheduled, s.UpdatedNumberScheduled, s.NumberReady)
	}
	return nil
}

func (l *Lab) agentsReady(ctx context.Context) error {
	var nodes struct{ Items []struct{} }
	if err := l.Get(ctx, "/api/v1/nodes", &nodes); err != nil {
		return err
	}
	var d daemonSet
	if err := l.Get(ctx, "/apis/apps/v1/namespaces/"+AgentNamespace+"/daemonsets/"+agentDaemonSet, &d); err != nil {
		return err
	}
	return d.done(len(nodes.Items))
}

// agentsSaid describes agents that did not become ready: events of their pods and of
// their DaemonSet, and the last log lines of each.
func (l *Lab) agentsSaid(ctx context.Context) string {
	var said strings.Builder
	pods, err := l.Pods(ctx, AgentNamespace, "app.kubernetes.io/component=agent")
	if err != nil {
		fmt.Fprintf(&said, "\n  pods: %v", err)
	}
	l.noted(ctx, &said, agentDaemonSet)
	for _, p := range pods {
		if p.Ready() {
			continue
		}
		fmt.Fprintf(&said, "\n  %s on %s is %s", p.Metadata.Name, p.Spec.NodeName, p.Status.Phase)
		l.noted(ctx, &said, p.Metadata.Name)
		text, err := l.Do(ctx, http.MethodGet, agentsPath+"/pods/"+p.Metadata.Name+"/log?tailLines=8", "")
		if err != nil {
			fmt.Fprintf(&said, "\n    log: %v", err)
			continue
		}
		for line := range strings.SplitSeq(strings.TrimRight(string(text), "\n"), "\n") {
			said.WriteString("\n    log: " + forTerminal(line))
		}
	}
	return said.String()
}

const agentsPath = "/api/v1/namespaces/" + AgentNamespace

// noted adds the last warning events of one object.
func (l *Lab) noted(ctx context.Context, said *strings.Builder, name string) {
	var events struct {
		Items []struct{ Reason, Message string }
	}
	if err := l.Get(ctx, agentsPath+"/events?fieldSelector=type!=Normal,involvedObject.name="+name, &events); err != nil {
		fmt.Fprintf(said, "\n    events: %v", err)
	}
	for _, e := range events.Items[max(0, len(events.Items)-3):] {
		said.WriteString("\n    " + forTerminal(e.Reason+": "+e.Message))
	}
}
