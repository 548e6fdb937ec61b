package detect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

var lifecycle = []*detect.Detector{
	detect.PL4001, detect.PL4002, detect.PL4003, detect.PL4004, detect.PL4005, detect.PL4006,
	detect.PL5001, detect.PL5003, detect.PL9001,
}

func byKey(fs []finding.Finding) map[string]*finding.Finding {
	out := map[string]*finding.Finding{}
	for i := range fs {
		out[fs[i].Key()] = &fs[i]
	}
	return out
}

// The evidence leads from the pod to the server, in that order, and About contains all pods
// that are affected.
func TestReasonFollowedDown(t *testing.T) {
	t.Parallel()
	f := byKey(detect.Run(model.Seal(cases(t)["testdata/PL4001.txtar"]().Snapshot), detect.PL4001).Findings)["PL4001/shop/index-task"]
	var got []string
	for _, e := range f.Evidence {
		got = append(got, string(e.Ref.Kind)+": "+e.Says)
	}
	want := []string{
		"pod: deletionTimestamp 2026-01-01T09:00:00Z",
		"container: main is running, its sandbox is gone",
		"process: java: leader is a zombie, thread 31301 is in state D",
		"process: waits in request_wait_answer",
		"mount: fuse.glusterfs at /var/lib/kubelet/pods/",
		"mount: its server is glusterfs (2210)",
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range []string{"shop/reader", "shop/neighbour"} {
		if !slices.Contains(f.About, model.Ref{Kind: model.KindPod, Name: name}) {
			t.Errorf("%s is held as well, and the finding is not about it: %v", name, f.About)
		}
	}
}

// Nothing that changes by itself is in the evidence: otherwise no finding would pass a reread.
func TestNothingThatMoves(t *testing.T) {
	t.Parallel()
	for path, load := range cases(t) {
		before := byKey(detect.Run(model.Seal(load().Snapshot), lifecycle...).Findings)
		s := load().Snapshot
		s.Meta.Taken += 20
		for i := range s.Events {
			s.Events[i].Count += 3
			s.Events[i].Last = max(s.Events[i].Last, s.Meta.Taken-40)
		}
		for _, f := range s.NodeState {
			for i := range f.Mounts {
				f.Mounts[i].Asked = "another way"
			}
			moveRuntimes(f)
			for i := range f.Machines {
				f.Machines[i].Uptime += 20
			}
		}
		after := byKey(detect.Run(model.Seal(s), lifecycle...).Findings)
		for k, f := range before {
			if g := after[k]; g == nil || !f.Same(g) {
				t.Errorf("%s: %s is not found again twenty seconds later", path, k)
			}
		}
	}
}

// moveRuntimes: answers take another time, errors have another text, and one more call is
// slow where one was.
func moveRuntimes(f *model.NodeState) {
	slow := false
	for i := range f.Runtimes {
		r := &f.Runtimes[i]
		r.Millis += r.Millis / 100
		if r.Error != "" {
			r.Error = "rpc error: code = Unavailable"
		}
		slow = slow || r.Error != "" || r.Millis > 2000
	}
	if slow {
		f.Runtimes = append([]model.Runtime{{Call: "A", Millis: 2600}}, f.Runtimes...)
	}
}

// The evidence has the time since when a mount does not answer, a runtime is slow or a
// process hangs: a short moment is not a finding.
func TestAgesAreProven(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"testdata/wolf/busy-disk.txtar":         "2026-01-01T09:59:58Z",
		"testdata/wolf/runtime-slow-once.txtar": "2026-01-01T09:59:55Z",
		"testdata/PL4002.txtar":                 "2026-01-01T09:00:00Z",
	} {
		fs := detect.Run(model.Seal(cases(t)[path]().Snapshot), lifecycle...).Findings
		if len(fs) == 0 {
			t.Errorf("%s: nothing found", path)
		}
		for i := range fs {
			if got := fs[i].Proven().String(); got != want {
				t.Errorf("%s: %s is proven since %s, want %s", path, fs[i].Key(), got, want)
			}
		}
	}
}

// The absence of a pod has no time: the age of its sandbox proves nothing.
func TestSandboxAgeProvesNothing(t *testing.T) {
	t.Parallel()
	n := 0
	fs := detect.Run(model.Seal(cases(t)["testdata/PL4003.txtar"]().Snapshot), detect.PL4003).Findings
	for i := range fs {
		if strings.Contains(fs[i].Summary, "no such pod") {
			n++
			if !fs[i].Proven().IsZero() {
				t.Errorf("%s is proven since %s", fs[i].Key(), fs[i].Proven())
			}
		}
	}
	if n != 1 {
		t.Errorf("%d sandboxes without a pod, want 1", n)
	}
}

// Text from other systems contains no terminal control sequences and is cut.
func FuzzForeignText(f *testing.F) {
	f.Add(`failed to destroy network for sandbox "`+strings.Repeat("a1", 32)+`": plugin type="calico" failed (delete): gone`, "java")
	f.Add("NetworkPlugin cni failed to teardown pod \"a_b\" network: \x1b]0;x\a\u202e\xff", "\x1b[2J\n")
	f.Add(strings.Repeat("failed (delete)", 1000), strings.Repeat("é", 500))
	f.Fuzz(func(t *testing.T, message, name string) {
		const now, uid = 1_800_000_000, "0c1f1f60-5f58-4a2d-8f0e-1d2c3b4a5968"
		s := &model.Snapshot{Meta: model.Meta{Taken: now}}
		for _, table := range model.Tables() {
			node := ""
			if table.OfNode() {
				node = "n"
			}
			s.Coverage = append(s.Coverage, model.Coverage{Table: table, Node: node, State: model.Complete})
		}
		s.Coverage[len(s.Coverage)-1].State, s.Coverage[len(s.Coverage)-1].Reason = model.Partial, message
		s.Nodes = []model.Node{{Name: "n", Ready: true}}
		s.Pods = []model.Pod{{Namespace: "s", Name: "p", UID: uid, Node: "n", Deleted: now - 1000, Finalizers: []string{message, name}}}
		s.Events = []model.Event{{Namespace: "s", Pod: "p", Node: "n", Reason: "FailedKillPod", Message: message, Count: 9, First: now - 900, Last: now - 10}}
		s.NodeState = map[string]*model.NodeState{"n": {
			Sandboxes:  []model.Sandbox{{ID: name, Namespace: name, Pod: name, UID: strings.Repeat("0", 32), Ready: true}},
			Containers: []model.Container{{ID: "c", Sandbox: message, Name: name, State: "running"}},
			Processes:  []model.Process{{PID: 7, Name: name, Why: "unkillable", State: "D", Waits: message, Init: true, PodUID: uid, Container: "c", NSLinks: message}},
			Mounts:     []model.Mount{{Target: message, Type: name, Source: "none", Silent: true, Asked: name, Server: message, Pods: []string{uid}, Dead: name, HeldBy: []model.Holder{{Name: message}}}},
			Runtimes:   []model.Runtime{{Call: name, Name: name, Error: message}},
			CNIConfigs: []model.CNIConfig{{File: name, Loaded: true, Plugins: []string{"calico"}, NodeName: message}},
			Machines:   []model.Machine{{CalicoName: message}},
		}}
		for _, g := range detect.Run(model.Seal(s), lifecycle...).Findings {
			texts := []string{g.Summary}
			for _, e := range g.Evidence {
				texts = append(texts, e.Says)
			}
			for _, text := range texts {
				if strings.ContainsFunc(text, func(r rune) bool {
					return !unicode.IsPrint(r) || r == unicode.ReplacementChar && !strings.ContainsRune(message+name, r)
				}) {
					t.Errorf("%s contains control characters: %q", g.Key(), text)
				}
				if n := len([]rune(text)); n > 600 {
					t.Errorf("%s is %d characters long", g.Key(), n)
				}
			}
		}
	})
}

// When all nodes are down, the search for a common workload stays short.
func BenchmarkPoison(b *testing.B) {
	for _, down := range []int{3, 100, 256, 5000} {
		b.Run(fmt.Sprint(down), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				v := model.Seal(outage(5000, 20, down))
				b.StartTimer()
				detect.Run(v, detect.PL5001)
			}
		})
	}
}

func outage(nodes, podsEach, down int) *model.Snapshot {
	const now = 1_800_000_000
	s := &model.Snapshot{Meta: model.Meta{Taken: now}}
	for _, t := range []model.Table{model.Nodes, model.Pods, model.PodNode, model.PodStatus, model.PodPhase} {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	for i := range nodes {
		n := model.Node{Name: fmt.Sprintf("n%04d", i), Ready: i >= down, Changed: now - 600 + model.Time(i%300)}
		s.Nodes = append(s.Nodes, n)
		for j := range podsEach {
			s.Pods = append(s.Pods, model.Pod{
				Namespace: "a", Name: fmt.Sprintf("p%04d-%d", i, j), Node: n.Name, Started: now - 900, Created: now - 900,
				Images: []string{fmt.Sprintf("image%d", j), fmt.Sprintf("image%d", 100+i%7)}, Volumes: []string{fmt.Sprintf("pvc:a/%d", j%3)},
			})
		}
	}
	return s
}
