package cli_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// recordsFile writes a bundle in which one address has an owner.
func recordsFile(t *testing.T, guid, pod string, at int64) string {
	t.Helper()
	s := &model.Snapshot{
		Meta:     model.Meta{Schema: model.Schema, GUID: guid, Taken: model.At(time.Unix(at, 0))},
		Coverage: []model.Coverage{{Table: model.Blocks, State: model.Complete}},
		Blocks: []model.Block{{
			Name: "b", CIDR: netip.MustParsePrefix("10.0.0.0/26"), Affinity: "host:node1", Length: 64, Held: []model.Slot{{1, 0}},
			Attributes: []model.Attribute{{Namespace: "shop", Pod: pod, Node: "node1", Handle: "k8s-pod-network." + strings.Repeat("ab", 32)}},
		}},
	}
	file := filepath.Join(t.TempDir(), pod+".tar.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshotio.WriteBundle(f, s); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestIPAMDiff(t *testing.T) {
	t.Parallel()
	was, is, other := recordsFile(t, "g", "web-0", 1_800_000_000), recordsFile(t, "g", "api-3", 1_800_000_100), recordsFile(t, "x", "web-1", 1_800_000_100)
	ask := func(code int, args ...string) result {
		t.Helper()
		r := run(t, 80, append([]string{"ipam"}, args...)...)
		if r.code != code {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", args, r.code, code, r.out, r.err)
		}
		return r
	}
	r := ask(1, "diff", was, is)
	for _, want := range []string{"1 address moved, 0 lost, 0 gained", "10.0.0.1", "moved", "shop/web-0 on node1", "shop/api-3 on node1"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing:\n%s", want, r.out)
		}
	}
	if r := ask(0, "diff", was, was); !strings.Contains(r.out, "1 has the same owner") {
		t.Errorf("%s", r.out)
	}
	if r := ask(1, "diff", was, is, "-o", "json"); !strings.Contains(r.out, `"kind": "IPAMDiff"`) || !strings.Contains(r.out, `"what": "moved"`) {
		t.Errorf("%s", r.out)
	}
	if r := ask(2, "diff", was, other); !strings.Contains(r.err, "of another cluster") {
		t.Errorf("%s", r.err)
	}
	copied := filepath.Join(t.TempDir(), "copy.tar.gz")
	if r := ask(0, "backup", "--bundle", was, "--save", copied); !strings.Contains(r.out, "1 allocated address in 1 block,") {
		t.Errorf("%s", r.out)
	}
	ask(0, "diff", was, copied)
}
