package observe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A failing collector does not affect the others; one that hangs is left behind, started
// again only after it has returned, and waited for no longer than its time limit.
func TestCollectorsAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		asked := 0
		b := &observe.NodeReader{Node: "n1", Within: 100 * time.Millisecond, Collectors: []observe.NodeCollector{
			{Name: "good", Tables: []model.Table{model.Links}, Read: func(_ context.Context, f *model.NodeState) error {
				f.Links = []model.Link{{Index: 1}}
				return nil
			}},
			{Name: "partial", Tables: []model.Table{model.Routes}, Read: func(context.Context, *model.NodeState) error {
				return fmt.Errorf("cut: %w", observe.ErrPartial)
			}},
			{Name: "some tables", Tables: []model.Table{model.Sandboxes, model.Runtimes}, Read: func(_ context.Context, f *model.NodeState) error {
				f.Runtimes = []model.Runtime{{Call: "Version", Error: "silent"}}
				return observe.TableErrors{model.Sandboxes: errors.New("no answer")}
			}},
			{Name: "hangs", Tables: []model.Table{model.Mounts}, Read: func(context.Context, *model.NodeState) error {
				asked++
				<-release
				return nil
			}},
		}}
		states := func() string {
			f, seen := b.Read(t.Context())
			if len(f.Links) != 1 || len(f.Runtimes) != 1 {
				t.Errorf("%+v", f)
			}
			var out []string
			for _, c := range seen {
				out = append(out, c.Table.String()+" "+string(c.State))
			}
			if !slices.IsSortedFunc(seen, func(a, b model.Coverage) int { return int(a.Table) - int(b.Table) }) {
				t.Errorf("not in order: %v", out)
			}
			return strings.Join(out, ", ")
		}
		const want = "links complete, routes partial, sandboxes absent, mounts absent, runtimes complete"
		began := time.Now() //nolint:forbidigo // the duration is tested
		for range 3 {
			if got := states(); got != want {
				t.Errorf("%s", got)
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
		close(release)
		got := ""
		for range 20 {
			if got = states(); got == strings.Replace(want, "mounts absent", "mounts complete", 1) {
				break
			}
		}
		if !strings.Contains(got, "mounts complete") || asked < 2 {
			t.Errorf("after it returned: %s, asked %d times", got, asked)
		}
	})
}
