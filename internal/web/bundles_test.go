package web_test

import (
	"flag"
	"os"
	"path/filepath"
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
