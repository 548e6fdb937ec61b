package cri

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/lab/build"
)

// What real sandboxes of real containerds look like, the oldest and the newest that matter.
func TestRootSandboxes(t *testing.T) {
	t.Parallel()
	b, err := build.New()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := b.Paths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, bin := range map[string]string{"1.6": "/usr/bin", "2.2": parts["containerd"]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := start(t, bin)
			d.ctr("images", "import", filepath.Join(parts["workload"], "pause.tar"))
			c := d.open()
			own, shared := d.run(c, "own", false), d.run(c, "shared", true)
			container := d.container(c, own)
			d.frozenShim(own, shared)
			d.rows(c, own, shared, container)
		})
	}
}

// facts reads everything, in full.
func (d *daemon) facts(c *Client) (map[string]model.Sandbox, map[string]model.Container) {
	d.t.Helper()
	f, took, err := collector(d.t, c, d.root)
	for try := 0; err != nil && try < 15; try++ { // who has just come back may still be waited for
		time.Sleep(time.Second)
		f, took, err = collector(d.t, c, d.root)
	}
	if err != nil {
		d.t.Fatalf("%v in %s", err, took)
	}
	d.t.Logf("%d sandboxes in %s", len(f.Sandboxes), took)
	boxes, containers := map[string]model.Sandbox{}, map[string]model.Container{}
	for _, s := range f.Sandboxes {
		boxes[s.ID] = s
	}
	for _, k := range f.Containers {
		containers[k.ID] = k
	}
	return boxes, containers
}

func (d *daemon) rows(c *Client, own, shared, container string) {
	t := d.t
	boxes, containers := d.facts(c)
	s := boxes[own]
	if s.Pod != "own" || s.Namespace != "shop" || s.UID != "u-own" || s.Attempt != 3 || !s.Ready || s.HostNetwork || s.Created.IsZero() {
		t.Errorf("own: %+v", s)
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", s.PID))
	if err != nil || s.Inode == 0 || parseNSLink(link) != s.Inode {
		t.Errorf("namespace of %+v is %s (%v)", s, link, err)
	}
	if got := inode(d.root, fmt.Sprintf("/proc/%d/ns/net", s.PID)); got != s.Inode {
		t.Errorf("by its process: %d", got)
	}
	if s := boxes[shared]; !s.Ready || !s.HostNetwork || s.NetNS != "" || s.Inode != 0 || s.PID == 0 {
		t.Errorf("shared: %+v", s)
	}
	k := containers[container]
	if k.Sandbox != own || k.Name != "main" || k.State != "running" || k.PID == 0 {
		t.Errorf("container: %+v", k)
	}

	// The second time, nobody is asked for what is known.
	asked := 0
	if _, _, err := c.sandboxes.all(t.Context(), []key{{own, 0}, {shared, 0}}, func(context.Context, string) (sandboxDetail, error) {
		asked++
		return sandboxDetail{}, nil
	}); err != nil || asked != 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}

	d.stop(c, own)
	boxes, containers = d.facts(c)
	if s := boxes[own]; s.Ready || s.NetNS == "" || s.Inode != 0 {
		t.Errorf("stopped: %+v", s)
	}
	if k := containers[container]; k.State != "exited" || k.PID != 0 {
		t.Errorf("stopped: %+v", k)
	}
}

// One shim that hangs takes the details of its own sandbox, and nothing else.
func (d *daemon) frozenShim(own, shared string) {
	t := d.t
	boxes, _ := d.facts(d.open())
	shim := parent(t, boxes[own].PID)
	freeze(t, shim)
	defer func() { _ = syscall.Kill(shim, syscall.SIGCONT) }()
	fresh := d.open()
	f, took, err := collector(t, fresh, d.root)
	t.Logf("frozen shim: %s, %v", took, err)
	got := map[string]model.Sandbox{}
	for _, s := range f.Sandboxes {
		got[s.ID] = s
	}
	if !reflect.DeepEqual(got[shared], boxes[shared]) || took > 20*time.Second {
		t.Errorf("frozen shim, in %s: %+v", took, got[shared])
	}
	// containerd 1.6 gives up on its shim as we give up on it, and may then still tell what
	// it knows by itself, which is the truth.
	var blind observe.TableErrors
	if partial := errors.As(err, &blind) && errors.Is(blind[model.Sandboxes], observe.ErrPartial); !partial && !reflect.DeepEqual(got[own], boxes[own]) ||
		partial && (got[own].Pod != "own" || got[own].PID != 0) || err != nil && !partial {
		t.Errorf("frozen shim: %v, %+v", err, got[own])
	}
	if err := syscall.Kill(shim, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if again, _ := d.facts(fresh); again[own].PID != boxes[own].PID {
		t.Errorf("thawed shim: %+v", again[own])
	}
}

// freeze stops a process, and waits until all of its threads stand still.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		stopped := 0
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if _, rest, _ := strings.Cut(string(b), ") "); strings.HasPrefix(rest, "T") {
				stopped++
			}
		}
		if len(files) > 0 && stopped == len(files) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d does not stop", pid)
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	n, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil || n < 2 {
		t.Fatalf("parent of %d: %d, %v", pid, n, err)
	}
	return n
}

// container starts one that does nothing; it ends with its sandbox.
func (d *daemon) container(c *Client, sandbox string) string {
	d.t.Helper()
	ctx := context.Background()
	made, err := c.api.CreateContainer(ctx, &runtime.CreateContainerRequest{
		PodSandboxId: sandbox,
		Config: &runtime.ContainerConfig{
			Metadata: &runtime.ContainerMetadata{Name: "main", Attempt: 2},
			Image:    &runtime.ImageSpec{Image: "registry.k8s.io/pause:3.10"},
			Envs:     []*runtime.KeyValue{{Key: "PASSWORD", Value: []byte("x")}},
			Linux:    &runtime.LinuxContainerConfig{},
		},
		SandboxConfig: &runtime.PodSandboxConfig{Metadata: &runtime.PodSandboxMetadata{Name: "own", Namespace: "shop", Uid: "u-own"}},
	})
	if err != nil {
		d.t.Fatalf("create container: %v", err)
	}
	if _, err := c.api.StartContainer(ctx, &runtime.StartContainerRequest{ContainerId: made.GetContainerId()}); err != nil {
		d.t.Fatalf("start container: %v", err)
	}
	return made.GetContainerId()
}
