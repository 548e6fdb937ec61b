package cri

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/lab/build"
)

const uid = "2b8e5882-5146-11e9-b3b3-525400dd6f19"

// sandboxOf makes one for a pod of that UID, in the host's network, as the kubelet would.
func (d *daemon) sandboxOf(c *Client, name, uid, source string) string {
	d.t.Helper()
	a, err := c.api.RunPodSandbox(context.Background(), &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{
		Metadata:    &runtime.PodSandboxMetadata{Name: name, Namespace: "shop", Uid: uid},
		Annotations: map[string]string{sourceKey: source},
		Linux: &runtime.LinuxPodSandboxConfig{
			CgroupParent:    "/plumbline-" + filepath.Base(d.dir),
			SecurityContext: &runtime.LinuxSandboxSecurityContext{NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE}},
		},
	}})
	if err != nil {
		d.t.Fatalf("run sandbox: %v", err)
	}
	return a.GetPodSandboxId()
}

// A real containerd's sandbox goes, with its container, if it is still the one that was
// meant; the other stays.
func TestRootRemove(t *testing.T) {
	t.Parallel()
	b, err := build.New()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := b.Paths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := start(t, "/usr/bin")
	d.ctr("images", "import", filepath.Join(parts["workload"], "pause.tar"))
	c := d.open()
	other := d.run(c, "own", true) // cleans up after all
	id, static := d.sandboxOf(c, "gone", uid, "api"), d.sandboxOf(c, "static", strings.ReplaceAll(uid, "-", ""), "file")
	defer func() {
		for _, id := range []string{id, static} {
			_, _ = c.api.StopPodSandbox(context.Background(), &runtime.StopPodSandboxRequest{PodSandboxId: id})
			_, _ = c.api.RemovePodSandbox(context.Background(), &runtime.RemovePodSandboxRequest{PodSandboxId: id})
		}
	}()
	container := d.container(c, id)
	read := func(id string) SandboxStatus {
		t.Helper()
		b, err := c.SandboxStatus(t.Context(), id)
		if err != nil || b == nil {
			t.Fatalf("%+v, %v", b, err)
		}
		return *b
	}
	want := read(id)
	if len(want.Containers) != 1 || want.Containers[0].ID != container || want.Containers[0].PID == 0 || want.Source != "api" || !want.Ready || want.UID != uid {
		t.Fatalf("%+v", want)
	}
	yes := func(context.Context) error { return nil }
	errNo := errors.New("no")
	with := func(b SandboxStatus, change func(*SandboxStatus)) SandboxStatus { change(&b); return b }
	for name, c2 := range map[string]struct {
		b     SandboxStatus
		check func(context.Context) error
	}{
		"somebody says no":   {want, func(context.Context) error { return errNo }},
		"another UID":        {with(want, func(b *SandboxStatus) { b.UID = strings.Replace(uid, "2b", "2c", 1) }), yes},
		"it was not ready":   {with(want, func(b *SandboxStatus) { b.Ready = false }), yes},
		"another attempt":    {with(want, func(b *SandboxStatus) { b.Attempt++ }), yes},
		"a container more":   {with(want, func(b *SandboxStatus) { b.Containers = nil }), yes},
		"a static pod":       {read(static), yes},
		"which does not say": {with(read(static), func(b *SandboxStatus) { b.Source = "" }), yes},
		"from a file":        {with(want, func(b *SandboxStatus) { b.Source = "file" }), yes},
		"made by hand":       {read(other), yes},
		"of no pod":          {with(want, func(b *SandboxStatus) { b.Pod = "" }), yes},
		"a beginning":        {with(want, func(b *SandboxStatus) { b.ID = b.ID[:12] }), yes},
	} {
		if begun, err := c.Remove(t.Context(), c2.b, c2.check, false); begun || err == nil || errors.Is(err, ErrGone) {
			t.Errorf("%s: %v, %v", name, begun, err)
		}
		if !read(id).Ready || !read(static).Ready || !read(other).Ready {
			t.Fatalf("%s: a sandbox was stopped", name)
		}
	}
	changes := func(ctx context.Context) error {
		_, err := c.api.StopContainer(ctx, &runtime.StopContainerRequest{ContainerId: container})
		return err
	}
	if begun, err := c.Remove(t.Context(), want, changes, false); begun || err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("a container ends while we look: %v, %v", begun, err)
	}
	want = read(id)
	if begun, err := c.Remove(t.Context(), want, yes, true); begun || err != nil || !read(id).Ready {
		t.Errorf("dry: %v, %v", begun, err)
	}
	if begun, err := c.Remove(t.Context(), want, yes, false); !begun || err != nil {
		t.Errorf("%v, %v", begun, err)
	}
	if b, err := c.SandboxStatus(t.Context(), id); b != nil || err != nil {
		t.Errorf("still there: %+v, %v", b, err)
	}
	if !read(static).Ready || !read(other).Ready {
		t.Error("another was stopped")
	}
	if begun, err := c.Remove(t.Context(), want, yes, false); begun || !errors.Is(err, ErrGone) {
		t.Errorf("again: %v, %v", begun, err)
	}
	if b, err := c.SandboxStatus(t.Context(), other[:12]); err == nil {
		t.Errorf("by the beginning of its ID: %+v", b)
	}
}
