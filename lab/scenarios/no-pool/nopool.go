// Package nopool produces pods whose pool is disabled, and then deleted: they run, and do not reach
// those of other nodes.
package nopool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "no-pool", Title: "running pods lose their network with their pool",
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
	near, err := s.Run(ctx, stage.PodSpec{Name: "near", Node: node.Name})
	if err != nil {
		return err
	}
	far, err := s.Run(ctx, stage.PodSpec{Name: "far", Node: other.Name})
	if err != nil {
		return err
	}
	name, manifest, err := pool(ctx, s)
	if err != nil {
		return err
	}
	get := func(ctx context.Context) (string, error) {
		return s.GetFrom(ctx, near.Metadata.Name, far.Status.PodIP)
	}
	heal := func(ctx context.Context) error { return s.CalicoctlApply(ctx, manifest) }
	s.Cleanup(heal)
	disable := func(ctx context.Context) error {
		_, err := s.Calicoctl(ctx, "patch", "ippool", name, "-p", `{"spec":{"disabled":true}}`)
		return err
	}
	remove := func(ctx context.Context) error {
		_, err := s.Calicoctl(ctx, "delete", "ippool", name)
		return err
	}
	for _, f := range []struct {
		name, want string
		do         func(context.Context) error
	}{{"disabled", "PL1010/" + name, disable}, {"deleted", "PL1010/no-pool", remove}} {
		if _, err := get(ctx); err != nil {
			return fmt.Errorf("before the pool is %s: %w", f.name, err)
		}
		if err := f.do(ctx); err != nil {
			return err
		}
		began := time.Now()
		if err := lab.Eventually(ctx, s.Scale(time.Minute), func(ctx context.Context) error {
			out, err := get(ctx)
			return stage.Expect(err != nil, "no answer while the pool is %s, got %q", f.name, out)
		}); err != nil {
			return err
		}
		s.Say("pool %s is %s: after %.0f s running pods do not reach those of other nodes", name, f.name, time.Since(began).Seconds())
		if err := s.Check(ctx, f.name, f.want); err != nil {
			return err
		}
		if err := heal(ctx); err != nil {
			return err
		}
		if err := lab.Eventually(ctx, s.Scale(3*time.Minute), func(ctx context.Context) error { _, err := get(ctx); return err }); err != nil {
			return err
		}
		if err := s.Check(ctx, "healed"); err != nil {
			return err
		}
	}
	return nil
}

// pool returns the name of the IPv4 pool, and a manifest that creates it as it is now.
func pool(ctx context.Context, s *stage.Stage) (name, manifest string, err error) {
	out, err := s.Calicoctl(ctx, "get", "ippool", "-o", "json")
	if err != nil {
		return "", "", err
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return "", "", err
	}
	for _, p := range list.Items {
		meta, _ := p["metadata"].(map[string]any)
		spec, _ := p["spec"].(map[string]any)
		if cidr, _ := spec["cidr"].(string); strings.Contains(cidr, ":") || cidr == "" {
			continue
		}
		name, _ = meta["name"].(string)
		p["metadata"] = map[string]any{"name": name}
		spec["disabled"] = false
		b, err := json.Marshal(p)
		return name, string(b), err
	}
	return "", "", fmt.Errorf("no pool of IPv4 in %s", out)
}
