// Package noservices produces a kube-proxy that does not work.
package noservices

import (
	"context"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "no-services", Title: "Services do not answer: kube-proxy does not work",
	Nodes: 2, Modes: stage.Both, Run: run, ByCause: true,
}

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	other, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	client, err := s.Run(ctx, stage.PodSpec{Name: "client", Node: node.Name})
	if err != nil {
		return err
	}
	if _, err := s.Run(ctx, stage.PodSpec{Name: "server", Node: other.Name}); err != nil {
		return err
	}
	old, err := service(ctx, s, "old")
	if err != nil {
		return err
	}
	reaches := func(ip string) error { return s.Reaches(ctx, client.Metadata.Name, ip, "server") }
	if err := reaches(old); err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return node.Thaw(ctx, lab.KubeProxy) })
	if err := node.Freeze(ctx, lab.KubeProxy); err != nil {
		return err
	}
	fresh, err := service(ctx, s, "fresh")
	if err != nil {
		return err
	}
	if err := reaches(old); err != nil {
		return err
	}
	out, err := s.GetFrom(ctx, client.Metadata.Name, fresh)
	if err := stage.Expect(err != nil, "no answer of the new Service while kube-proxy hangs, got %q", out); err != nil {
		return err
	}
	s.Say("kube-proxy of %s hangs: the old Service answers, the new one does not", node.Name)
	if err := s.Check(ctx, "hangs", "+PL5006/"+node.Name); err != nil {
		return err
	}
	if err := node.Thaw(ctx, lab.KubeProxy); err != nil {
		return err
	}
	if err := reaches(fresh); err != nil {
		return err
	}
	if err := s.Check(ctx, "thawed"); err != nil {
		return err
	}
	return flushed(ctx, s, node, func() error { return reaches(old) }, func() (string, error) { return s.GetFrom(ctx, client.Metadata.Name, old) })
}

// flushed removes kube-proxy's rules, as a firewall service does that is restarted.
func flushed(ctx context.Context, s *stage.Stage, node *lab.Node, reaches func() error, get func() (string, error)) error {
	// kube-proxy does not fill chains of endpoints that are there: its table must go first.
	heal := func(ctx context.Context) error {
		if _, err := node.Exec(ctx, "nft", "delete", "table", "ip", "kube-proxy"); err != nil {
			return err
		}
		return node.Restart(ctx, lab.KubeProxy)
	}
	s.Cleanup(heal)
	if _, err := node.Exec(ctx, "nft", "flush", "table", "ip", "kube-proxy"); err != nil {
		return err
	}
	out, err := get()
	if err := stage.Expect(err != nil, "no answer of a Service without rules, got %q", out); err != nil {
		return err
	}
	s.Say("the rules of kube-proxy of %s are gone: no Service answers", node.Name)
	if err := s.Check(ctx, "flushed", "+PL5006/"+node.Name); err != nil {
		return err
	}
	if err := heal(ctx); err != nil {
		return err
	}
	if err := reaches(); err != nil {
		return err
	}
	return s.Check(ctx, "healed")
}

// service creates a Service for the server, and returns its address.
func service(ctx context.Context, s *stage.Stage, name string) (string, error) {
	if err := s.Apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: %s}\nspec: {selector: {app: server}, ports: [{port: 8080}]}\n", name, s.Namespace)); err != nil {
		return "", err
	}
	ip, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "service", name, "-o", "jsonpath={.spec.clusterIP}")
	return strings.TrimSpace(ip), err
}
