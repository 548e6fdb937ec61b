package audit_test

import (
	"fmt"

	"plumbline.dev/plumbline/internal/model"
)

// hangs gives a pod a process that cannot end, and its name.
func (w *world) hangs(p *model.Pod, since model.Time) (*model.Process, string) {
	f := w.facts(p.Node)
	pid := 4000 + w.places[p.Name]
	f.Processes = append(f.Processes, model.Process{
		PID: pid, Name: "java", Why: "unkillable", State: "D", Waits: "rpc_wait_bit_killable", Init: true,
		Container: containerOf("main of " + p.Name), PodUID: p.UID, Since: since,
	})
	return &f.Processes[len(f.Processes)-1], fmt.Sprintf("%s/%d", p.Node, pid)
}

// silent makes a mount that does not answer, of a filer of its own.
func (w *world) silent(node string, since model.Time, users ...string) string {
	f, source := w.facts(node), w.fresh("filer")+":/data"
	for i := range max(1, len(users)) {
		m := model.Mount{Target: fmt.Sprintf("/mnt/%d", i), Type: "nfs4", Source: source, Device: "0:" + source, Silent: true, Asked: "mountstats", Server: source, Since: since}
		if len(users) > 0 {
			m.Target, m.Pods = "/var/lib/kubelet/pods/"+users[i]+"/volumes/data", []string{users[i]}
		}
		f.Mounts = append(f.Mounts, m)
	}
	return "PL4004/" + node + "/" + source
}

var lifeFaults = []fault{
	{"pod does not end", "", func(w *world) []string {
		p := w.running()
		p.Deleted, p.Ready = now-3600, false
		if w.pick("kept", 2) == 1 {
			p.Finalizers = []string{"example.org/keep"}
			if !w.etcd {
				w.tearDown(p)
			}
		}
		return []string{"!PL4001/ns/" + p.Name}
	}},
	{"pod waits for a silent mount", "agents", func(w *world) []string {
		at := w.spot()
		uids := []string{w.runningOn(at.node).UID, w.runningOn(at.node).UID} // both use it, one shall end
		p := &w.s.Pods[len(w.s.Pods)-1]
		p.Deleted, p.Ready = now-3600, false
		pr, name := w.hangs(p, at.since)
		mount := w.silent(at.node, at.since, uids...)
		head := "PL4001/ns/" + p.Name
		want := []string{"!" + head, at.aged() + mount, "PL4002/" + name + " under " + head}
		if w.pick("links", 2) == 1 {
			pr.NSLinks = "readlink net: no such file or directory"
			want = append(want, "PL4003/"+name+" under "+head)
		}
		return want
	}},
	{"living pod waits for a silent mount", "agents", func(w *world) []string {
		at := w.spot()
		p := w.runningOn(at.node)
		_, name := w.hangs(p, at.since)
		mount := w.silent(at.node, at.since, p.UID)
		return []string{at.aged() + mount, "PL4002/" + name + " under " + mount}
	}},
	{"silent mount", "agents", func(w *world) []string {
		at := w.spot()
		return []string{at.aged() + w.silent(at.node, at.since)}
	}},
	{"leader gone, a thread lives", "agents", func(w *world) []string {
		at := w.spot()
		p := w.runningOn(at.node)
		pr, name := w.hangs(p, at.since)
		pr.Why, pr.State, pr.Waits, pr.Init, pr.Threads = "zombie", "Z", "", false, []model.Thread{{TID: pr.PID + 1, State: "S"}}
		return []string{at.aged() + "PL4002/" + name}
	}},
	{"container without sandbox", "agents", func(w *world) []string {
		at := w.spot()
		f, id := w.facts(at.node), containerOf(w.fresh("main of gone"))
		f.Containers = append(f.Containers, model.Container{ID: id, Sandbox: containerOf("no " + id), Name: "main", State: "running", Since: at.since})
		return []string{"?PL4003/" + at.node + "/" + id}
	}},
	{"container outlives its sandbox", "agents", func(w *world) []string {
		at := w.spot()
		p := w.runningOn(at.node)
		f, id, earlier := w.facts(at.node), containerOf("main of earlier "+p.Name), containerOf("earlier "+p.Name)
		w.sandbox(p).Attempt = 1
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: earlier, Namespace: "ns", Pod: p.Name, UID: p.UID, Since: at.since})
		f.Containers = append(f.Containers, model.Container{ID: id, Sandbox: earlier, Name: "main", State: "running", Since: old})
		return []string{at.aged() + "PL4003/" + at.node + "/" + id}
	}},
	{"mount of a dead container", "agents", func(w *world) []string {
		at := w.spot()
		f, id := w.facts(at.node), containerOf(w.fresh("dead"))
		f.Mounts = append(f.Mounts, model.Mount{Target: "/run/" + id + "/rootfs", Type: "overlay", Source: "overlay", Device: "0:99", Dead: id, HeldBy: []model.Holder{{PID: 4242, Name: "exporter"}}, Since: at.since})
		return []string{at.aged() + "PL4003/" + at.node + "/" + id}
	}},
	{"mount of a dead container that the runtime lists", "agents", func(w *world) []string {
		at := w.spot()
		f, id, box := w.facts(at.node), containerOf(w.fresh("ended")), containerOf(w.fresh("ended box"))
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: box, Namespace: "ns", Pod: "ended", UID: uidOf("ended"), Since: old})
		f.Containers = append(f.Containers, model.Container{ID: id, Sandbox: box, Name: "main", State: "exited", Since: old})
		f.Mounts = append(f.Mounts, model.Mount{Target: "/run/" + id + "/rootfs", Type: "overlay", Source: "overlay", Device: "0:98", Dead: id, HeldBy: []model.Holder{{PID: 4243, Name: "exporter"}}, Since: at.since})
		return []string{at.aged() + "PL4003/" + at.node + "/" + id}
	}},
	{"runtime's directories mounted", "", func(w *world) []string {
		p := w.running()
		p.Volumes, p.Owner = append(p.Volumes, model.RuntimeDir+"/var/lib"), "DaemonSet/"+p.Name
		return []string{"!PL4010/ns/DaemonSet/" + p.Name}
	}},
	{"endless teardown", "", func(w *world) []string {
		n, gone := w.node().Name, w.fresh("gone")
		if f := w.facts(n); f != nil {
			f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: containerOf(gone), Namespace: "ns", Pod: gone, UID: uidOf(gone), Since: old})
		}
		w.s.Events = append(w.s.Events, failedDEL(gone, n, containerOf(gone)))
		return []string{"!PL4006/ns/" + gone}
	}},
	{"teardown fails without an event", "agents", func(w *world) []string {
		at, gone := w.spot(), w.fresh("gone")
		f, id := w.facts(at.node), containerOf(gone)
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: id, Namespace: "ns", Pod: gone, UID: uidOf(gone), Since: old})
		f.FailedDels = append(f.FailedDels, model.FailedDel{Sandbox: id, Tries: 2, Span: 60, Ago: 20, Error: "Unauthorized", Since: now - 120})
		return []string{"!PL4006/ns/" + gone}
	}},
}
