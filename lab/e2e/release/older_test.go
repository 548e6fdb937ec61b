//go:build e2e

package release

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

var older = flag.String("older", "", "a built checkout of an older version, which is upgraded")

const (
	was = "0.1.0"
	is  = "0.2.0"

	known = `{"apiVersion": "plumbline.dev/v1alpha1", "kind": "Suppression", "metadata": {"name": "known"},
		"spec": {"code": "PL1009", "subject": "*", "reason": "small on purpose", "owner": "us", "expires": "EXPIRES"}}`
	leaks = `{"apiVersion": "plumbline.dev/v1alpha1", "kind": "RepairPolicy", "metadata": {"name": "leaks"}, "spec": {"mode": "Shadow", "codes": ["PL1001", "PL1006"]}}`
)

// TestFromOlder upgrades a cluster that an older version runs on, with the guard in enforce, a finding, and where that version
// has them a suppression and a policy: they stay what they are through upgrade, rollback and upgrade, while pods come and go,
// and nothing is left in the end.
func TestFromOlder(t *testing.T) {
	values, err := os.ReadFile(filepath.Join(*older, "charts", "plumbline", "values.yaml"))
	if err != nil {
		t.Fatalf("-older: %v", err)
	}
	hadController := strings.Contains(string(values), "\ncontroller:")
	l := lab.Start(t, lab.Config{Nodes: 2 - *machines, Machines: *machines, Machine: *machine, Datastore: lab.KDD})
	registry := serve(t, l)
	old := user{t: t, l: l, path: unpacked(t, product.ReleaseOf(t, *older, registry+"/plumbline", "v"+was), was)}
	u := user{t: t, l: l, path: unpacked(t, product.Release(t, registry+"/plumbline", "v"+is), is)}
	t.Logf("from %s to %s", old.run(0, "version"), u.run(0, "version"))

	chart := "oci://" + registry + "/plumbline/charts/plumbline"
	set := "guard.enabled=true,guard.mode=enforce"
	if hadController {
		set += ",controller.enabled=true"
	}
	u.kubectl("create", "namespace", lab.AgentNamespace)
	u.kubectl("label", "namespace", lab.AgentNamespace, "pod-security.kubernetes.io/enforce=privileged")
	product.Helm(t, l, "install", "plumbline", chart, "--plain-http", "--version", was, "-n", lab.AgentNamespace, "--wait", "--timeout=300s", "--set", set)
	upgrade := func() {
		product.Helm(t, l, "upgrade", "plumbline", chart, "--plain-http", "--version", is, "-n", lab.AgentNamespace, "--reset-then-reuse-values", "--wait", "--timeout=400s",
			"--set", "controller.enabled=true,controller.ui.enabled=true")
	}

	s := &stage.Stage{Lab: l, Namespace: "default", Tell: func(line string) { t.Log(line) }}
	pod, err := s.Run(t.Context(), stage.PodSpec{Name: "freed", Node: "node1"})
	if err != nil {
		t.Fatal(err)
	}
	// Pods come and go for minutes: none of them may get the address, or the finding would be another.
	if err := s.CalicoctlApply(t.Context(), "apiVersion: projectcalico.org/v3\nkind: IPReservation\nmetadata: {name: freed}\nspec: {reservedCIDRs: ["+pod.Status.PodIP+"/32]}\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Calicoctl(t.Context(), "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
		t.Fatal(err)
	}
	finding := "PL1002/" + pod.Status.PodIP
	if out := old.run(1, "check", "--wait", "--settle=3s"); !strings.Contains(out, finding) {
		t.Errorf("the older version: %s", out)
	}
	var objects string
	if hadController {
		old.controller(finding, was)
		objects = u.inUse()
	}

	u.replace("upgrade", is, upgrade)
	u.controller(finding, is)
	if !hadController {
		objects = u.inUse()
	}
	u.same("upgrade", objects)
	t.Logf("the older command line with the newer controller: %s", old.anyway("check", "--from-controller"))
	u.replace("rollback", was, func() {
		product.Helm(t, l, "rollback", "plumbline", "1", "-n", lab.AgentNamespace, "--wait", "--timeout=400s")
	})
	if hadController {
		old.controller(finding, was)
		t.Logf("the newer command line with the older controller: %s", u.anyway("check", "--from-controller"))
	}
	u.same("rollback", objects)
	u.replace("second upgrade", is, upgrade)
	u.controller(finding, is)
	u.same("second upgrade", objects)

	u.kubectl("-n", "default", "delete", "pod", "freed")
	product.Helm(t, l, "uninstall", "plumbline", "-n", lab.AgentNamespace, "--wait", "--timeout=120s")
	u.kubectl("delete", "namespace", lab.AgentNamespace, "--timeout=90s")
	u.kubectl("delete", "crd", "findings.plumbline.dev", "suppressions.plumbline.dev", "repairpolicies.plumbline.dev", "--timeout=60s")
	u.nothingLeft()
}

// inUse adds a suppression and a policy, and returns all objects once the controller has answered.
func (u user) inUse() (out string) {
	u.t.Helper()
	for _, object := range []string{strings.Replace(known, "EXPIRES", time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339), 1), leaks} {
		if err := u.l.Apply(u.t.Context(), object); err != nil {
			u.t.Fatal(err)
		}
	}
	for range 60 {
		if out = u.objects(); strings.Count(out, "\n") == 3 {
			return out
		}
		time.Sleep(2 * time.Second)
	}
	u.t.Fatalf("a finding, a suppression and a policy, got\n%s", out)
	return ""
}

// objects are the findings that are confirmed, suppressions and policies, by name, UID and since when. That a node is not
// read while its agent is replaced is a finding of its own (PL9001), which stays where the controller is removed meanwhile.
func (u user) objects() (out string) {
	u.t.Helper()
	all := u.kubectl("get", "findings,suppressions,repairpolicies", "-o", "jsonpath={range .items[?(@.status.state!='Resolved')]}{.kind} {.metadata.name} {.metadata.uid} {.status.firstSeen}{'\\n'}{end}")
	for line := range strings.Lines(all) {
		if !strings.HasPrefix(line, "Finding pl9001-") {
			out += line
		}
	}
	return out
}

// same tells whether they are what they were: none lost, none doubled, none begun anew.
func (u user) same(after, want string) {
	u.t.Helper()
	var got string
	for range 30 {
		if got = u.objects(); got == want {
			u.t.Logf("after the %s:\n%s", after, got)
			return
		}
		time.Sleep(2 * time.Second)
	}
	u.t.Errorf("after the %s:\n%swant\n%s", after, got, want)
}

// anyway runs a command whatever comes of it, and returns what it said.
func (u user) anyway(args ...string) string {
	out, err := u.command(u.t.Context(), args...).CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}
