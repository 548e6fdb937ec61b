//go:build e2e

package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// more is added after the entries of Calico and portmap.
const more = `},
  {"type": "bandwidth",   "capabilities": {"bandwidth": true}}
]}`

// another is the configuration of another network, which the runtime does not load.
const another = `{"name":"other","cniVersion":"0.4.0","plugins":[{"type":"bridge","bridge":"br9","ipam":{"type":"host-local","subnet":"10.99.0.0/24"}},{"type":"calico","note":"not this one"}]}
`

// TestChained has further plugins after Calico's, and a configuration of another network
// beside it: both stay unchanged, and so does Calico's file after the guard is removed.
func TestChained(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 1, Datastore: lab.KDD})
	n, err := l.Node(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	chain(t, n)
	before := folder(t, n)
	product.InstallGuard(t, l)
	inForce(t, l, "observe")
	switchTo(t, l, "enforce")
	entriesKept(t, before, folder(t, n))
	if err := stage.Play(t.Context(), l, stage.Scenario{Name: "chained", Run: published}, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Error(err)
	}
	rewritten(t, l, n, before)
	switchTo(t, l, "off")
	if after := folder(t, n); !reflect.DeepEqual(before, after) {
		t.Errorf("before %q\nafter %q", before, after)
	}
	goes(t, n)
}

// chain writes the files as an administrator would to add plugins.
func chain(t *testing.T, n *lab.Node) {
	t.Helper()
	b, err := os.ReadFile(n.CNIConfig())
	if err != nil {
		t.Fatal(err)
	}
	i := strings.LastIndex(string(b), "}\n]}")
	if i < 0 {
		t.Fatalf("the lab's configuration is %s", b)
	}
	text := string(b[:i]) + more + string(b[i+len("}\n]}"):])
	if err := n.WriteFile("/etc/cni/net.d/10-calico.conflist", text); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(n.CNIConfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(n.CNIConfig(), 0, 4711); err != nil {
		t.Fatal(err)
	}
	if err := n.WriteFile("/etc/cni/net.d/20-other.conflist", another); err != nil {
		t.Fatal(err)
	}
}

// folder returns every network configuration of the node by name, with mode and owner.
func folder(t *testing.T, n *lab.Node) map[string]string {
	t.Helper()
	_, dir, _ := n.CNIDirs()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		owner, err := n.Exec(t.Context(), "stat", "-c", "%a %u %g", "/etc/cni/net.d/"+f.Name())
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name()] = owner + string(b)
	}
	return out
}

// entriesKept requires all plugins in their order, Calico's inside the guard's entry,
// and no other change.
func entriesKept(t *testing.T, before, now map[string]string) {
	t.Helper()
	const file = "10-calico.conflist"
	was, is := parsed(t, before[file]), parsed(t, now[file])
	if len(was.Plugins) != 3 || len(is.Plugins) != 3 {
		t.Fatalf("%d plugins became %d", len(was.Plugins), len(is.Plugins))
	}
	guard := is.Plugins[0]
	if guard["type"] != "plumbline-cni" || !reflect.DeepEqual(guard["delegate"], any(was.Plugins[0])) {
		t.Errorf("the guard's entry is %v", guard)
	}
	if !reflect.DeepEqual(was.Plugins[1:], is.Plugins[1:]) || was.Name != is.Name || was.CNIVersion != is.CNIVersion {
		t.Errorf("%+v became %+v", was, is)
	}
	for name, text := range before {
		if name != file && now[name] != text {
			t.Errorf("%s was changed to %q", name, now[name])
		}
	}
	if len(now) != len(before) {
		t.Errorf("%d files became %d", len(before), len(now))
	}
	header, _, _ := strings.Cut(before[file], "\n")
	after, _, _ := strings.Cut(now[file], "\n")
	if header != after {
		t.Errorf("mode and owner %q became %q", header, after)
	}
}

type conflist struct {
	Name, CNIVersion string
	Plugins          []map[string]any
}

func parsed(t *testing.T, text string) (c conflist) {
	t.Helper()
	_, text, _ = strings.Cut(text, "\n")
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// published requires that a port of the node leads to a pod: portmap got its
// runtimeConfig.
func published(ctx context.Context, s *stage.Stage) error {
	pod := s.Manifest(stage.PodSpec{Name: "web", Node: "node1"})
	pod = strings.Replace(pod, `args: [serve]`, `args: [serve], ports: [{containerPort: 8080, hostPort: 18080}]`, 1)
	if err := stage.Expect(strings.Contains(pod, "hostPort"), "a manifest with a port"); err != nil {
		return err
	}
	if err := s.Apply(ctx, pod); err != nil {
		return err
	}
	if _, err := s.WaitReady(ctx, "web", ""); err != nil {
		return err
	}
	n, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	ask := func(ctx context.Context) (string, error) {
		return n.Exec(ctx, "curl", "-sS", "--max-time", "3", fmt.Sprintf("http://%s:18080/", n.Addr()))
	}
	err = lab.Eventually(ctx, 20*time.Second, func(ctx context.Context) error {
		out, err := ask(ctx)
		if err != nil {
			return err
		}
		return stage.Expect(strings.HasPrefix(out, "host=web "), "an answer of web on the node's port, got %q", out)
	})
	if err != nil {
		return err
	}
	if err := s.Delete(ctx, "web"); err != nil {
		return err
	}
	out, err := ask(ctx)
	return stage.Expect(err != nil, "the node's port to be free again, got %q", out)
}

// rewritten lets Calico rewrite its file, as it does at every start: the guard is added
// again, and the file is Calico's again when the guard is removed.
func rewritten(t *testing.T, l *lab.Lab, n *lab.Node, before map[string]string) {
	t.Helper()
	r, err := reported(n)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(before["10-calico.conflist"], "\n")
	f, err := os.OpenFile(n.CNIConfig(), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range []string{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := f.WriteString(half); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = lab.Eventually(t.Context(), 30*time.Second, func(context.Context) error {
		now, err := reported(n)
		if err != nil {
			return err
		}
		return stage.Expect(now.Put > r.Put && now.State == "patched", "the guard added again, got %+v", now)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("added again after %.1f s", time.Since(began).Seconds())
	inForce(t, l, "enforce")
}

// goes requires that the guard's program is removed too, once no configuration
// references it.
func goes(t *testing.T, n *lab.Node) {
	t.Helper()
	dir, _, _ := n.CNIDirs()
	began := time.Now()
	err := lab.Eventually(t.Context(), 6*time.Minute, func(context.Context) error { // the guard daemon waits a while before it removes the program
		left, err := filepath.Glob(filepath.Join(dir, "*plumbline*"))
		if err != nil {
			return err
		}
		r, err := reported(n)
		if err != nil {
			return err
		}
		return stage.Expect(len(left) == 0, "nothing of the guard's, got %q, %+v", left, r)
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s: the program was removed after %.0f s", n.Name, time.Since(began).Seconds())
}
