package cli_test

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// What a person has in hand leads to its node and its pod.
func TestExplainWhere(t *testing.T) {
	t.Parallel()
	const sandbox = "94feeebc95fb0123456789abcdef0123456789abcdef0123456789abcdef0123"
	world := func(s *model.Snapshot) {
		s.NodeState["n1"].Links = append(s.NodeState["n1"].Links, model.Link{Index: 57, Name: "cali69de609d5af", Kind: "veth", MAC: "ee:ee:ee:ee:ee:ee", Up: true, Peer: 3, PeerNS: 4026539999})
		s.NodeState["n1"].Attachments = append(s.NodeState["n1"].Attachments, model.Attachment{Sandbox: sandbox, Inode: 4026539999, Device: "eth0", Index: 3, Peer: 57, PeerNS: s.NodeState["n1"].Machines[0].NetNS, MAC: "b2:21:5b:82:e1:27", Up: true})
		s.NodeState["n1"].Sandboxes = append(s.NodeState["n1"].Sandboxes, model.Sandbox{ID: sandbox, Namespace: "shop", Pod: "found-0", UID: "uid-found", Ready: true, Inode: 4026539999, PID: 13110})
		s.NodeState["n1"].Mounts = append(s.NodeState["n1"].Mounts, model.Mount{Target: "/var/lib/kubelet/pods/uid-found/volumes/data", Type: "fuse.glusterfs", Source: "gluster1:/data", Silent: true, Pods: []string{"uid-found", "uid-gone"}})
		s.NodeState["n1"].Containers = append(s.NodeState["n1"].Containers, model.Container{ID: "c0ffee00" + sandbox[8:], Sandbox: sandbox, Name: "db", State: "running", PID: 13111})
		s.NodeState["n1"].CNIResults = append(s.NodeState["n1"].CNIResults, model.CNIResult{Network: "k8s-pod-network", Container: "dead0000" + sandbox[8:], Interface: "eth0"})
	}
	file := bundle(t, "PL3005", world)
	for args, want := range map[string]string{
		"device cali69de609d5af": "n1: interface cali69de609d5af, index 57, veth, up; behind it eth0 in namespace 4026539999, MAC b2:21:5b:82:e1:27, sandbox 94feeebc95fb, pod shop/found-0",
		"mac B2:21:5B:82:E1:27":  "n1: eth0 in namespace 4026539999, MAC b2:21:5b:82:e1:27, sandbox 94feeebc95fb, pod shop/found-0",
		"sandbox 94feeebc95fb":   "n1: sandbox 94feeebc95fb, ready, pid 13110, pod shop/found-0",
		"sandbox c0ffee0095fb":   "n1: container c0ffee0095fb (db), running, in sandbox 94feeebc95fb, pod shop/found-0",
		"pid 13110":              "n1: first process of sandbox 94feeebc95fb, pod shop/found-0",
		"pid n1/13111":           "n1: first process of container c0ffee0095fb (db), pod shop/found-0",
		"volume gluster1:":       "n1: fuse.glusterfs gluster1:/data on /var/lib/kubelet/pods/uid-found/volumes/data, DOES NOT ANSWER, pod shop/found-0\n  n1: fuse.glusterfs gluster1:/data on /var/lib/kubelet/pods/uid-found/volumes/data, DOES NOT ANSWER, pod uid uid-gone",
		"mac b221.5b82.e127":     "n1: eth0 in namespace 4026539999, MAC b2:21:5b:82:e1:27, sandbox 94feeebc95fb, pod shop/found-0",
		"sandbox dead0000":       "n1: a cached CNI result of sandbox dead000095fb, which the runtime does not list",
		"pid n2/13111":           "pid n2/13111: found 0 times on",
		"device cali00000000000": "device cali00000000000: found 0 times on",
		"sandbox 000000000000":   "sandbox 000000000000: found 0 times on",
	} {
		r := run(t, 0, append(append([]string{"explain"}, strings.Fields(args)...), "--bundle", file)...)
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("explain %s: exit %d\n%s%s\nwant %s", args, r.code, r.out, r.err, want)
		}
		// What agents send when they look for it themselves says the same.
		sent := bundle(t, "PL3005", func(s *model.Snapshot) {
			world(s)
			kind, name, _ := strings.Cut(args, " ")
			sought, err := model.Seek(kind, name)
			if err != nil {
				t.Fatal(err)
			}
			for node, f := range s.NodeState {
				sought.Narrow(f, node)
				if len(f.Routes)+len(f.Machines) > 0 || len(f.Sandboxes) > 1 {
					t.Errorf("explain %s: %s sends %d routes, %d sandboxes", args, node, len(f.Routes), len(f.Sandboxes))
				}
			}
		})
		if n := run(t, 0, append(append([]string{"explain"}, strings.Fields(args)...), "--bundle", sent)...); strings.ReplaceAll(n.out, sent, file) != r.out {
			t.Errorf("explain %s\n%s\nof all rows; of those that concern it\n%s", args, r.out, n.out)
		}
		if found := strings.Contains(r.out, "found-0"); found != strings.Contains(r.out, "Next: plumbline explain pod found-0 -n shop") {
			t.Errorf("explain %s: %s", args, r.out)
		}
	}
	for _, bad := range []string{"sandbox 94fe", "sandbox not-an-identifier", "mac nonsense", "pid n1", "pid n1/0", "pid 99999999999999999999"} {
		if r := run(t, 0, append(append([]string{"explain"}, strings.Fields(bad)...), "--bundle", file)...); r.code != 2 || !strings.HasPrefix(r.err, "error: explain ") {
			t.Errorf("explain %s: exit %d, %s%s", bad, r.code, r.out, r.err)
		}
	}
	silent := bundle(t, "PL3005", func(s *model.Snapshot) {
		for _, table := range model.FactTables() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: table, Node: "n9", State: model.Lost, Reason: "no answer"})
		}
		s.Coverage = append(s.Coverage, model.Coverage{Table: model.Mounts, Node: "n1", State: model.Lost, Reason: "hangs"})
		s.NodeState["n2"].Sandboxes = append(s.NodeState["n2"].Sandboxes, model.Sandbox{ID: sandbox, Namespace: "shop", Pod: "x;touch /tmp/pwned #"})
	})
	if r := run(t, 0, "explain", "device", "cali00000000000", "--bundle", silent); !strings.Contains(r.out, "Not checked: 1 node could not be read: n9") {
		t.Errorf("a silent node is not named: %s", r.out)
	}
	if r := run(t, 0, "explain", "volume", "gluster1", "--bundle", silent); !strings.Contains(r.out, "Not checked: 2 nodes could not be read: n1, n9") {
		t.Errorf("a node whose mounts were not read is not named: %s", r.out)
	}
	if r := run(t, 0, "explain", "sandbox", sandbox, "--bundle", silent); !strings.Contains(r.out, "explain pod 'x;touch /tmp/pwned #' -n shop") {
		t.Errorf("a name is not quoted: %s", r.out)
	}
	if r := run(t, 0, "explain", "device", "cali69de609d5af", "-o", "json", "--bundle", file); !strings.Contains(r.out, `"kind": "Lookup"`) || !strings.Contains(r.out, `"pod": "shop/found-0"`) {
		t.Errorf("exit %d, %s", r.code, r.out)
	}
}

// A handle leads to its addresses, whose they are, and whether its sandbox is there.
func TestExplainHandle(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL1001-node", nil)
	all := run(t, 0, "explain", "handle", "k8s-pod-network."+strings.Repeat("0", 64), "--bundle", file)
	if all.code != 0 || !strings.Contains(all.out, "it has no record of its own; 0 addresses") {
		t.Errorf("one that does not exist: exit %d, %s%s", all.code, all.out, all.err)
	}
	var id string
	bundle(t, "PL1001-node", func(s *model.Snapshot) {
		for _, h := range s.Handles {
			if strings.HasPrefix(h.ID, "k8s-pod-network.") {
				id = h.ID
			}
		}
	})
	r := run(t, 0, "explain", "handle", id, "--bundle", file)
	if r.code != 0 || !strings.Contains(r.out, "its record counts 1 address in 1 block; 1 address in the blocks") || !strings.Contains(r.out, "10.0.0.0/28") {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.err)
	}
	t.Log(r.out)
	if r := run(t, 0, "explain", "handle", id, "-o", "json", "--bundle", file); !strings.Contains(r.out, `"kind": "HandleExplanation"`) {
		t.Errorf("%s", r.out)
	}
}
