package audit_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var bundle = flag.String("bundle", "", "TestBundle: write a bundle of 150,000 pods with 60,000 findings into this file")

// A bundle with orphan handles is judged as what it was written from: each is a finding.
func TestBundle(t *testing.T) {
	t.Parallel()
	file, nodes, orphans := *bundle, 5000, 60_000
	if file == "" {
		file, nodes, orphans = filepath.Join(t.TempDir(), "small.tar.gz"), 4, 50
	}
	s := withFactsOf(nodes, nodes)
	s.Meta.Schema = model.Schema
	for i := range orphans {
		s.Handles = append(s.Handles, model.Handle{ID: fmt.Sprintf("k8s-pod-network.%064x", 1<<40+i), Written: now - 400_000})
	}
	pods := len(s.Pods)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshotio.WriteBundle(f, s); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	again, err := snapshotio.ReadBundle(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := audit.Judge(t.Context(), again, audit.Source{}, audit.Options{Detectors: detect.All})
	if len(again.Pods) != pods || len(r.Findings)+len(r.Unconfirmed) < orphans {
		t.Errorf("%d pods of %d; %s", len(again.Pods), pods, r.Totals("finding"))
	}
	if *bundle != "" && pods < 150_000 {
		t.Errorf("only %d pods", pods)
	}
	t.Logf("%d pods, %s", pods, r.Totals("finding"))
}
