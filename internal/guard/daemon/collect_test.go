package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// box is a sandbox that is ready and an hour old.
func (s *stand) box(id, pod string) model.Sandbox {
	return model.Sandbox{ID: id, Namespace: "ns", Pod: pod, UID: "u", Ready: true, NetNS: "/run/netns/" + id, Inode: 100, Created: model.At(s.now.Add(-time.Hour))}
}

// TestAdopt: only who is alone is adopted.
func TestAdopt(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("observe")
	at := s.at()
	young, host, down, gone := s.box("young", "young"), s.box("host", "host"), s.box("down", "down"), s.box("gone", "gone")
	young.Created, host.HostNetwork, down.Ready, gone.Inode = model.At(s.now.Add(-30*time.Second)), true, false, 0
	ahead := s.box("ahead", "ahead")
	ahead.Created = model.At(s.now.Add(time.Hour)) // a clock that was set back
	old := s.box("old", "twice")
	old.Ready = false
	s.boxes = []model.Sandbox{s.box("web", "web"), old, s.box("new", "twice"), s.box("seen", "seen"), young, host, down, gone, ahead}
	known := guard.Owner{Key: guard.Key{Network: at.network, Container: "other", IfName: "eth0"}, Namespace: "ns", Pod: "seen", PID: 7}
	known, err := s.db.Begin(known)
	known.State = guard.Deleted
	if err := errors.Join(err, s.db.End(known), s.adopts(t.Context(), &at, s.now)); err != nil {
		t.Fatal(err)
	}
	all, err := s.db.All()
	if err != nil || len(all) != 2 || all[0].Container != "web" || s.report.Adopted != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if o := all[0]; o.State != guard.Added || o.Seq <= known.Seq || o.NetNS != "/run/netns/web" || o.Inode != 100 || o.UID != "u" || o.IfName != "eth0" || o.Network != "k8s-pod-network" {
		t.Errorf("%+v", o)
	}
	// Whoever comes after it makes its DEL a late one.
	if _, err := s.db.Begin(guard.Owner{Key: guard.Key{Network: at.network, Container: "next", IfName: "eth0"}, Namespace: "ns", Pod: "web"}); err != nil {
		t.Fatal(err)
	}
	own, _ := s.db.Owner(all[0].Key)
	newest, _ := s.db.Newest(all[0].Name())
	d := guard.Decide(guard.Call{Verb: guard.Del, Network: at.network, Container: "web", IfName: "eth0", Namespace: "ns", Pod: "web"}, guard.Known{Own: own, Newest: newest})
	if !d.Late {
		t.Errorf("%+v", d)
	}
	s.silent = errSilent
	if err := s.adopts(t.Context(), &at, s.now); err == nil {
		t.Error("the runtime did not answer, and nobody said so")
	}
}

// cache writes a file as libcni does.
func (s *stand) cache(id, pod, network string, age time.Duration) {
	s.t.Helper()
	name := fmt.Sprintf("var/lib/cni/results/%s-%s-eth0", network, id)
	s.write(name, fmt.Sprintf(`{"kind":"cniCacheV1","containerId":%q,"config":"e30=","ifName":"eth0","networkName":%q,"cniArgs":[["IgnoreUnknown","1"],["K8S_POD_NAMESPACE","ns"],["K8S_POD_NAME",%q],["SECRET","s"]]}`, id, network, pod), 0o600)
	if err := os.Chtimes(s.path(name), s.now.Add(-age), s.now.Add(-age)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stand) queued() string {
	s.t.Helper()
	all, err := s.db.Queued()
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for i := range all {
		out = append(out, all[i].Container+"="+all[i].Namespace+"/"+all[i].Pod)
	}
	return strings.Join(out, " ")
}

// TestCollect: what nobody needs is queued, never deleted, and not in doubt.
func TestCollect(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("enforce")
	at := s.at()
	for i := range 20 {
		id := fmt.Sprintf("live%d", i)
		s.boxes = append(s.boxes, s.box(id, id))
		s.cache(id, id, at.network, time.Hour)
	}
	s.cache("dead", "dead", at.network, time.Hour)
	s.cache("young", "young", at.network, time.Minute)
	s.cache("called", "called", at.network, time.Hour)
	s.cache("elsewhere", "elsewhere", "another-network", time.Hour)
	s.cache("twin", "live3", at.network, time.Hour) // live3 is not on record: whose the name is nobody knows
	s.cache("unnamed", "", at.network, time.Hour)
	s.calls = []model.Process{{CNI: "called"}}
	for id, inode := range map[string]uint64{"rec-gone": 7, "rec-lives": 8, "rec-unknown": 0} {
		o, err := s.db.Begin(guard.Owner{Key: guard.Key{Network: at.network, Container: id, IfName: "eth0"}, Namespace: "ns", Pod: id, Inode: inode, PID: 1})
		o.State = guard.Added
		if err := errors.Join(err, s.db.End(o)); err != nil {
			t.Fatal(err)
		}
	}
	s.namespaces = []uint64{8}
	watching := at
	watching.mode = guard.Observe
	if got := s.collects(t.Context(), &watching, s.now); got != "4 would be queued in enforce" || s.queued() != "" {
		t.Errorf("observe: %s: %s", got, s.queued())
	}
	got := s.collects(t.Context(), &at, s.now)
	if s.queued() != "dead=ns/dead rec-gone=ns/rec-gone" || got != "2 queued, 2 skipped: the owner of their pod name is unknown" {
		t.Errorf("%s: %s", got, s.queued())
	}
	if got := s.collects(t.Context(), &at, s.now); !strings.HasPrefix(got, "0 queued") {
		t.Errorf("queued twice: %s", got)
	}
	for _, l := range []string{"dead", "rec-gone"} {
		if err := s.db.Unqueue(guard.Key{Network: at.network, Container: l, IfName: "eth0"}); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(why string) {
		t.Helper()
		if got := s.collects(t.Context(), &at, s.now); !strings.HasPrefix(got, "refused: ") || !strings.Contains(got, why) || s.queued() != "" {
			t.Errorf("%s: %s", got, s.queued())
		}
	}
	s.silent = errSilent
	refused("does not answer")
	s.silent = nil
	boxes := s.boxes
	s.boxes = boxes[:2]
	refused("would be deleted")
	s.boxes = nil
	refused("no sandbox at all")
	s.boxes = boxes
	s.Namespaces = func(context.Context) ([]uint64, error) { return []uint64{8}, observe.ErrPartial }
	refused("list the network namespaces")
}

func TestParseCached(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "{}", `{"kind":"cniCacheV2","containerId":"a","ifName":"b","networkName":"c"}`, `{"kind":"cniCacheV1","containerId":"a","ifName":"b"}`, `[]`} {
		if c, err := parseCached([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, c)
		}
	}
}

func FuzzParseCached(f *testing.F) {
	f.Add([]byte(`{"kind":"cniCacheV1","containerId":"a","ifName":"b","networkName":"c","cniArgs":[["K8S_POD_NAME","x"]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, err := parseCached(raw); err == nil && (c.Container == "" || c.IfName == "" || c.Network == "") {
			t.Errorf("%+v", c)
		}
	})
}
