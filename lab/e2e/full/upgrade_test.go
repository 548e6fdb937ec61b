//go:build e2e

package full

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// TestAgainst plays an upgrade: kubelets and Felix are restarted, a pod is recreated, and three
// things go wrong meanwhile. check --against names these and nothing else. Then each of them is
// looked up by what a person has in hand.
func TestAgainst(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			l := lab.Start(t, lab.Config{Nodes: 2, Datastore: mode})
			product.InstallAgents(t, l)
			u := &upgrade{t: t, bin: product.Binary(t), state: t.TempDir(), before: filepath.Join(t.TempDir(), "before.tar.gz")}
			sc := stage.Scenario{Name: "upgrade", Title: "an upgrade, with three faults", Nodes: 2, Modes: stage.Both, Run: u.run}
			if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Agents: true}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

type upgrade struct {
	t                  *testing.T
	bin, state, before string
}

func (u *upgrade) run(ctx context.Context, s *stage.Stage) error {
	for _, name := range []string{"old", "kept"} {
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: "node2"}); err != nil {
			return err
		}
	}
	if _, _, err := stage.Plumbline(ctx, s.Lab, u.bin, u.state, "collect", "--save", u.before); err != nil {
		return err
	}
	nodes, err := s.RunningNodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := errors.Join(n.Restart(ctx, lab.Kubelet), n.Restart(ctx, lab.Felix)); err != nil {
			return err
		}
	}
	if err := errors.Join(s.Delete(ctx, "old"), s.WaitGone(ctx, "old")); err != nil {
		return err
	}
	want, err := u.breakThree(ctx, s)
	if err != nil {
		return err
	}
	var last error // a check that is cut off at the end proves nothing
	err = lab.Eventually(ctx, s.Scale(90*time.Second), func(ctx context.Context) error {
		err := u.against(ctx, s, want)
		if ctx.Err() != nil && last != nil {
			return last
		}
		last = err
		return err
	})
	if err != nil {
		return err
	}
	s.Say("check --against reports %s, nothing else", strings.Join(want, ", "))
	return u.lookUp(ctx, s)
}

func (u *upgrade) against(ctx context.Context, s *stage.Stage, want []string) error {
	out, code, err := stage.Plumbline(ctx, s.Lab, u.bin, u.state, "check", "--wait", "--settle=3s", "--against", u.before, "-o", "json")
	if err != nil {
		return err
	}
	var doc struct {
		Against struct{ New, Gone, Unknown []string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		return err
	}
	slices.Sort(doc.Against.New)
	return stage.Expect(slices.Equal(doc.Against.New, want) && len(doc.Against.Gone)+len(doc.Against.Unknown) == 0 && code == 1, "%q to be new, got %+v, exit code %d", want, doc.Against, code)
}

// breakThree has an older plugin on node2, no proxy ARP for a pod, and a wrong neighbour entry for
// another.
func (u *upgrade) breakThree(ctx context.Context, s *stage.Stage) ([]string, error) {
	if _, err := s.WithoutProxyARP(ctx, "deaf"); err != nil {
		return nil, err
	}
	moved, err := s.Run(ctx, stage.PodSpec{Name: "moved", Node: "node1"})
	if err != nil {
		return nil, err
	}
	first, err := s.Node(ctx, 1)
	if err != nil {
		return nil, err
	}
	if err := s.Reaches(ctx, "deaf-peer", moved.Status.PodIP, "moved"); err != nil {
		return nil, err
	}
	if _, err := first.Exec(ctx, "ip", "neigh", "replace", moved.Status.PodIP, "lladdr", "02:00:00:00:00:99", "dev", stage.Device(s.Namespace, "moved"), "nud", "permanent"); err != nil {
		return nil, err
	}
	second, err := s.Node(ctx, 2)
	if err != nil {
		return nil, err
	}
	// The program as it is, with another version in its build information.
	const plugin, older = "/opt/cni/bin/calico", "/opt/cni/older"
	_, err = second.Exec(ctx, "sh", "-c", "sed 's/buildinfo.Version=v3.31.0/buildinfo.Version=v3.28.1/' "+plugin+" > "+older+" && chmod 755 "+older+" && cp "+plugin+" "+plugin+".kept && mv "+older+" "+plugin)
	s.Cleanup(func(ctx context.Context) error {
		_, err := second.Exec(ctx, "mv", plugin+".kept", plugin)
		return err
	})
	return []string{"PL3004/" + s.Namespace + "/moved", "PL3005/" + s.Namespace + "/deaf", "PL9005/node2"}, err
}

// lookUp finds a pod by each thing that a person may have in hand.
func (u *upgrade) lookUp(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	sb, err := s.Sandbox(ctx, node, "kept")
	if err != nil {
		return err
	}
	link, err := stage.InPod(ctx, node, sb, "ip", "-o", "link", "show", "eth0")
	if err != nil {
		return err
	}
	_, mac, _ := strings.Cut(link, "link/ether ")
	mac, _, _ = strings.Cut(mac, " ")
	for _, what := range [][2]string{
		{"device", stage.Device(s.Namespace, "kept")},
		{"mac", mac},
		{"sandbox", sb.ID[:12]},
		{"pid", "node2/" + sb.PID},
		{"handle", "k8s-pod-network." + sb.ID},
	} {
		began := time.Now()
		out, code, err := stage.Plumbline(ctx, s.Lab, u.bin, u.state, "explain", what[0], what[1])
		took := time.Since(began)
		if err != nil {
			return err
		}
		s.Say("explain %s: %.2f s", what[0], took.Seconds())
		if err := stage.Expect(code == 0 && strings.Contains(out, s.Namespace+"/kept") && strings.Contains(out, "node2"), "%s to lead to the pod, got exit code %d\n%s", what[0], code, out); err != nil {
			return err
		}
		if err := stage.Expect(took < s.Scale(time.Second), "an answer within a second, got %s", took); err != nil {
			return err
		}
	}
	return nil
}
