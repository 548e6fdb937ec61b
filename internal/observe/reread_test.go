package observe

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// plainly is the expected result of a patch, in any order.
func plainly(rows []model.Pod, l Reread) []string {
	read := map[model.Ref]bool{}
	for _, r := range l.Read {
		read[r] = true
	}
	for i := range l.Rows.Pods {
		read[l.Rows.Pods[i].Ref()] = true
	}
	var out []string
	for i := range rows {
		if !read[rows[i].Ref()] {
			out = append(out, fmt.Sprint(rows[i]))
		}
	}
	return append(out, texts(l.Rows.Pods)...)
}

func texts(rows []model.Pod) (out []string) {
	for i := range rows {
		out = append(out, fmt.Sprint(rows[i]))
	}
	return out
}

func TestPatched(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	shared := 0
	for range 3000 {
		pod := func() model.Pod {
			return model.Pod{Namespace: fmt.Sprint("ns", r.IntN(2)), Name: fmt.Sprint("p", r.IntN(6)), Node: fmt.Sprint("n", r.IntN(2))}
		}
		var s model.Snapshot
		var l Reread
		for range r.IntN(8) {
			s.Pods = append(s.Pods, pod())
		}
		for range r.IntN(4) {
			p := pod()
			l.Read = append(l.Read, p.Ref())
			if r.IntN(2) == 0 {
				l.Rows.Pods = append(l.Rows.Pods, p)
			}
		}
		before := slices.Clone(s.Pods)
		got, changed := Patched(&s, l)
		a, b := texts(got.Pods), plainly(s.Pods, l)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Fatalf("%v\nwith %v\nbecame %v\nwant %v", before, l, a, b)
		}
		if !reflect.DeepEqual(s.Pods, before) {
			t.Fatalf("the original was changed: %v, was %v", s.Pods, before)
		}
		if changed == reflect.DeepEqual(got.Pods, before) && len(before)+len(got.Pods) > 0 {
			t.Fatalf("%v became %v: changed is %t", before, got.Pods, changed)
		}
		if !changed && len(l.Read) > 0 && len(before) > 0 {
			shared++
		}
	}
	if shared < 20 {
		t.Errorf("only %d were shared", shared)
	}
}

// If no row is gone or new, a sorted table stays sorted.
func TestPatchedKeepsTheOrder(t *testing.T) {
	t.Parallel()
	s := model.Snapshot{Pods: []model.Pod{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	now := model.Pod{Name: "b", Node: "n"}
	got := Patch(&s, Reread{Rows: model.Snapshot{Pods: []model.Pod{now}}})
	if len(got.Pods) != 3 || got.Pods[1].Node != "n" || got.Pods[2].Name != "c" {
		t.Errorf("%v", got.Pods)
	}
}

// In etcd a view writes Calico's names into the nodes of its snapshot, so two must not share them.
func TestPatchedSharesNoNamedNodes(t *testing.T) {
	t.Parallel()
	s := &model.Snapshot{Nodes: []model.Node{{Name: "n1"}}, Hosts: []model.Host{{Name: "c1", Kubernetes: "n1"}}, Pods: []model.Pod{{Name: "a"}}}
	read := Reread{Read: []model.Ref{s.Pods[0].Ref(), s.Nodes[0].Ref()}, Rows: model.Snapshot{Nodes: slices.Clone(s.Nodes)}}
	if got, changed := Patched(s, read); !changed || &got.Nodes[0] == &s.Nodes[0] {
		t.Errorf("changed %t, nodes are shared", changed)
	}
	s.Hosts = nil
	if got, _ := Patched(s, read); &got.Nodes[0] != &s.Nodes[0] {
		t.Error("copied although nothing is written")
	}
}
