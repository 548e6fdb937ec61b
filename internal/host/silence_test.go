package host

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

func TestFuseWaiting(t *testing.T) {
	t.Parallel()
	type step struct {
		at     time.Duration
		open   int
		answer bool // a child has got one, after this look
		silent bool
	}
	for name, steps := range map[string][]step{
		"nobody waits":            {{0, 0, false, false}, {10 * time.Second, 0, false, false}},
		"unanswered":              {{0, 3, false, false}, {time.Second, 3, false, false}, {2 * time.Second, 3, false, true}},
		"more and more":           {{0, 1, false, false}, {2 * time.Second, 7, false, true}, {4 * time.Second, 9, false, true}},
		"comes and goes":          {{0, 3, false, false}, {time.Second, 0, false, false}, {2 * time.Second, 3, false, false}},
		"answers others":          {{0, 1, true, false}, {5 * time.Second, 1, true, false}, {14 * time.Second, 1, true, false}, {15 * time.Second, 1, false, true}},
		"it goes on":              {{0, 1, false, false}, {2 * time.Second, 1, false, true}, {3 * time.Second, 0, true, false}, {4 * time.Second, 1, false, false}},
		"an answer of long ago":   {{0, 0, true, false}, {20 * time.Second, 1, false, false}, {23 * time.Second, 1, false, true}},
		"an answer a moment ago ": {{0, 0, true, false}, {time.Second, 1, false, false}, {4 * time.Second, 1, false, true}},
	} {
		sys := t.TempDir()
		h := New(Options{Sys: sys})
		v := volume{mount: mount{kind: "fuse.x", minor: 52}}
		for i, s := range steps {
			write(t, sys, "fs/fuse/connections/52/waiting", strconv.Itoa(s.open)+"\n")
			h.now = func() time.Duration { return s.at + time.Hour }
			got := h.fromOutside(&v, h.now())
			if got.silent != s.silent || got.waiting != s.open || (got.how == byWaiting) != s.silent {
				t.Errorf("%s, look %d: got %+v", name, i, got)
			}
			if s.answer {
				h.note(v.device(), probeAnswered)
			}
		}
		// What answers others must not be aborted, whatever waits.
		if others, err := h.answersOthers(t.Context(), v.device()); err != nil || others != (name == "answers others") {
			t.Errorf("%s: answers others: %t, %v", name, others, err)
		}
	}
	h := New(Options{Sys: t.TempDir()})
	if got := h.fromOutside(&volume{mount: mount{kind: "fuse", minor: 52}}, 0); got != (verdict{}) {
		t.Errorf("no control files: %+v", got)
	}
}

func TestNFSCalls(t *testing.T) {
	t.Parallel()
	type step struct {
		at             time.Duration
		sent, received int
		silent         bool
	}
	sec := time.Second
	for name, steps := range map[string][]step{
		"idle, with old losses": {{0, 9, 5, false}, {5 * sec, 9, 5, false}, {10 * sec, 9, 5, false}},
		"unanswered":            {{0, 9, 5, false}, {5 * sec, 10, 5, false}, {7 * sec, 10, 5, true}, {20 * sec, 12, 5, true}, {21 * sec, 12, 6, false}},
		"busy":                  {{0, 9, 9, false}, {5 * sec, 10, 9, false}, {7 * sec, 99, 97, false}, {9 * sec, 199, 197, false}},
		"it gave up":            {{0, 9, 9, false}, {5 * sec, 10, 9, false}, {7 * sec, 10, 9, true}, {66 * sec, 10, 9, false}, {70 * sec, 10, 9, false}},
		"mounted anew":          {{0, 9, 9, false}, {5 * sec, 3, 2, false}, {7 * sec, 3, 2, false}},
	} {
		dir := t.TempDir()
		h := New(Options{})
		v := volume{mount: mount{kind: "nfs4", target: "/mnt", minor: 60}, dir: dir}
		for i, s := range steps {
			write(t, dir, "mountstats", "device s:/x mounted on /mnt with fstype nfs4 statvers=1.1\n\txprt:\ttcp 0 1 1 0 0 "+
				strconv.Itoa(s.sent)+" "+strconv.Itoa(s.received)+" 0 0\n")
			if got := h.fromOutside(&v, s.at+time.Hour); got.silent != s.silent {
				t.Errorf("%s, look %d: got %+v", name, i, got)
			}
		}
	}
}

func TestVolumesAndTheirPods(t *testing.T) {
	t.Parallel()
	const uidB, uidC = "bbbbbbbb-5146-11e9-b3b3-525400dd6f19", "cccccccc-5146-11e9-b3b3-525400dd6f19"
	gluster := func(target string) mount {
		return mount{target: target, kind: "fuse.glusterfs", source: "gluster1:/vol", minor: 52}
	}
	h := New(Options{Root: "/proc/1/root"})
	got := h.volumes([]space{
		{pid: 1, dir: "/proc/1", host: true, mounts: []mount{gluster("/var/lib/kubelet/pods/" + uidB + "/volumes/x/data"), {target: "/", kind: "ext4"}}},
		{pid: 7, dir: "/proc/7", owner: owner{pod: uidA}, mounts: []mount{gluster("/data"), {target: "/nfs", kind: "nfs4", source: "s:/x", minor: 60}}},
		// A driver sees what the kubelet has, and uses none of it.
		{pid: 9, dir: "/proc/9", owner: owner{pod: uidC}, mounts: []mount{
			gluster("/var/lib/kubelet/pods/" + uidB + "/volumes/x/data"), gluster("/var/lib/kubelet/plugins/csi/globalmount"),
		}},
	})
	if len(got) != 2 || got[0].target != "/proc/7/root/nfs" || !slices.Equal(got[0].pods, []string{uidA}) {
		t.Fatalf("got %+v", got)
	}
	if v := got[1]; v.target != "/proc/1/root/var/lib/kubelet/pods/"+uidB+"/volumes/x/data" || !slices.Equal(v.pods, []string{uidA, uidB}) {
		t.Errorf("got %+v", v)
	}
}

func TestDeadMounts(t *testing.T) {
	t.Parallel()
	cid := func(c string) string { return strings.Repeat(c, 64) }
	rootfs := func(at, id string) mount {
		return mount{target: at + "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id + "/rootfs", kind: "overlay", source: "overlay", minor: 70}
	}
	host := space{pid: 1, name: "systemd", host: true, mounts: []mount{rootfs("", cid("1"))}}
	holder := space{pid: 77, name: "collector", owner: owner{pod: uidA}, mounts: []mount{
		rootfs("/host", cid("1")), // the host has it as well
		rootfs("/host", cid("2")), // its process lives
		rootfs("/host", cid("d")),
		{target: "/var/lib/kubelet/pods/" + uidA + "/volumes/x/own", kind: "tmpfs"},
	}}
	other := space{pid: 88, name: "exporter", mounts: []mount{rootfs("/rootfs", cid("d"))}}
	living := space{pid: 99, name: "java", owner: owner{container: cid("2")}, mounts: []mount{{target: "/", kind: "overlay"}}}
	nested := space{pid: 111, name: "dockerd", holder: true, owner: owner{pod: uidA}, mounts: []mount{rootfs("", cid("e"))}}
	h := New(Options{})
	var at time.Duration
	h.now = func() time.Duration { return at }
	look := func(s ...space) []model.Mount { return h.deadMounts(s) }
	all := []space{host, holder, other, living, nested}
	if got := look(all...); len(got) != 0 {
		t.Errorf("first look: %+v", got)
	}
	at = time.Second
	got := look(all...)
	want := []model.Holder{{PID: 77, Name: "collector", PodUID: uidA}, {PID: 88, Name: "exporter"}}
	if len(got) != 1 || got[0].Dead != cid("d") || !slices.Equal(got[0].HeldBy, want) || !strings.HasPrefix(got[0].Target, "/host/run") || got[0].Type != "overlay" {
		t.Errorf("second look: %+v", got)
	}
	// A container that is being started has its mount first in one look, then in the host's table.
	host.mounts = append(host.mounts, rootfs("", cid("d")))
	if got := look(host, holder); len(got) != 0 {
		t.Errorf("it lives: %+v", got)
	}
}
