//go:build e2e

package full

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// TestVariants starts each kind of cluster once and lets pods of two nodes talk, in
// every address family that it has.
func TestVariants(t *testing.T) {
	for name, c := range map[string]lab.Config{
		"dual stack on kdd":  {DualStack: true, Datastore: lab.KDD},
		"dual stack on etcd": {DualStack: true, Datastore: lab.Etcd},
		"containerd 2.2":     {Containerd: lab.Containerd22},
		"small blocks":       {BlockSize: 29},
	} {
		t.Run(name, func(t *testing.T) {
			l := lab.Start(t, c)
			sc := stage.Scenario{Name: "variant", Run: func(ctx context.Context, s *stage.Stage) error { return talk(ctx, s, c) }}
			if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func talk(ctx context.Context, s *stage.Stage, c lab.Config) error {
	for i, name := range []string{"a", "b"} {
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: fmt.Sprintf("node%d", i+1)}); err != nil {
			return err
		}
	}
	out, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "pod", "b", "-o", "jsonpath={.status.podIPs[*].ip}")
	if err != nil {
		return err
	}
	ips := strings.Fields(out)
	if err := stage.Expect(len(ips) == 2 == c.DualStack, "addresses of each family, got %q", ips); err != nil {
		return err
	}
	for _, ip := range ips {
		if err := s.Reaches(ctx, "a", ip, "b"); err != nil {
			return err
		}
	}
	blocks, err := s.Blocks(ctx)
	if err != nil {
		return err
	}
	size := max(c.BlockSize, 26)
	for _, b := range blocks {
		if !strings.Contains(b.CIDR, ":") && !strings.HasSuffix(b.CIDR, fmt.Sprintf("/%d", size)) {
			return stage.Expect(false, "blocks of size /%d, got %s", size, b.CIDR)
		}
	}
	return nil
}
