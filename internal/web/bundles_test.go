package web_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var bundles = flag.String("bundles", "", "directory for bundles that a browser looks at")

// Bundles with an incident of each family, and with hostile names, are written, and read again as they were.
func TestBundles(t *testing.T) {
	t.Parallel()
	dir := *bundles
	if dir == "" {
		dir = t.TempDir()
	}
	for name, world := range map[string]string{"ipam": "PL1001-node", "endpoint": "PL2001", "route": "PL3003", "terminating": "PL4001", "node": "PL5003"} {
		text, err := os.ReadFile(filepath.Join("..", "detect", "testdata", world+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := snapshotio.ParseText(text, "findings", "skipped")
		if err != nil {
			t.Fatal(err)
		}
		if name == "endpoint" {
			renamed(c.Snapshot)
		}
		if name == "route" {
			for i := range c.Snapshot.Pools {
				c.Snapshot.Pools[i].Name += hostile
			}
			for _, n := range c.Snapshot.NodeState {
				n.Mounts = append(n.Mounts, model.Mount{Source: hostile, Target: hostile, Type: hostile, Silent: true})
				n.Processes = append(n.Processes, model.Process{PID: 1, Name: hostile, Why: hostile, State: "D"})
			}
		}
		pods := len(c.Snapshot.Pods)
		f, err := os.Create(filepath.Join(dir, name+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if err := snapshotio.WriteBundle(f, c.Snapshot); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		again, err := snapshotio.ReadBundle(f)
		if err != nil || len(again.Pods) != pods {
			t.Errorf("%s: %v, %d pods of %d", name, err, len(again.Pods), pods)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// renamed gives pods and nodes names that no API server would take: one as long as names may be, the others with markup.
func renamed(s *model.Snapshot) {
	nodes := map[string]string{}
	for i := range s.Nodes {
		nodes[s.Nodes[i].Name] = strings.Repeat("n", 253-i) + strings.Repeat("x", i)
		s.Nodes[i].Name = nodes[s.Nodes[i].Name]
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if n, ok := nodes[p.Node]; ok {
			p.Node = n
		}
	}
	states := s.NodeState
	s.NodeState = map[string]*model.NodeState{}
	for name, f := range states {
		if n, ok := nodes[name]; ok {
			name = n
		}
		s.NodeState[name] = f
	}
	for i := range s.Coverage {
		if n, ok := nodes[s.Coverage[i].Node]; ok {
			s.Coverage[i].Node = n
		}
	}
	for i := range s.Pods {
		s.Pods[i].Name += hostile + strings.Repeat("p", 200)
	}
}
