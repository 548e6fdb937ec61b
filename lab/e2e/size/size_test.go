//go:build e2e

package size

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/load"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	nodes = flag.Int("nodes", 100, "how many nodes to load")
	modes = flag.String("modes", "kdd,etcd", "which datastores")
)

var faults = load.Faults{
	load.Leaked: 20, load.Unallocated: 10, load.OrphanHandle: 20, load.MiscountedHandle: 10, load.MissingHandle: 10, load.NoAnnotation: 10,
	load.SharedAddress: 5, load.WrongNode: 10, load.GoneNodeAffinity: 10, load.BadIndex: 1, load.Finished: 100,
}

// TestLoadedFaults: check finds the loaded faults, by name, and nothing else.
func TestLoadedFaults(t *testing.T) {
	for _, mode := range strings.Split(*modes, ",") {
		t.Run(mode, func(t *testing.T) {
			l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.Datastore(mode)})
			put := load.Faults{}
			for k, n := range faults {
				put[k] = n
			}
			if l.Datastore == lab.Etcd {
				put[load.StaleEndpoint] = 20
			}
			sum, err := load.Run(t.Context(), l, load.Config{Nodes: *nodes, PodsPerNode: 30, Faults: put})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pods, %d objects, %d MB written in %s, seen by the API server after %s", sum.Pods, sum.Objects, sum.Bytes>>20, sum.Write.Round(time.Second), sum.Settle.Round(time.Second))
			var want []string
			for _, f := range sum.Faults {
				want = append(want, names(f)...)
			}
			slices.Sort(want)
			want = slices.Compact(want)
			bare(t, l)
			state := t.TempDir()
			for _, args := range [][]string{{"--settle=1s", "--wait"}, {"--settle=1s"}, {"--settle=1s", "--gentle"}} {
				compare(t, measured(t, l, product.Binary(t), state, args...), want)
			}
			measured(t, l, product.Binary(t), state, "--quick")
		})
	}
}

// names gives the findings that a fault must become.
func names(f load.Fault) []string {
	switch f.Kind {
	case load.Leaked:
		return []string{"PL1001/" + f.Subject}
	case load.Unallocated:
		return []string{"PL1002/" + f.Subject}
	case load.OrphanHandle, load.MiscountedHandle, load.MissingHandle:
		return []string{"PL1006/" + f.Handle}
	case load.NoAnnotation:
		return []string{"PL2001/" + f.Pod}
	case load.StaleEndpoint:
		ns, pod, _ := strings.Cut(f.Pod, "/")
		return []string{"PL2002/" + ns + "/" + strings.ReplaceAll(f.Node, "-", "--") + "-k8s-" + strings.ReplaceAll(pod, "-", "--") + "-eth0"}
	case load.SharedAddress:
		return []string{"PL2010/" + f.Subject}
	case load.WrongNode:
		return []string{"PL1003/" + f.Subject}
	case load.GoneNodeAffinity:
		return []string{"PL1007/" + f.Node + "/" + f.Subject}
	case load.BadIndex:
		return []string{"PL1004/" + f.Subject, "PL5002/kube-controllers/crashes"}
	case load.Finished:
	}
	return nil
}

func compare(t *testing.T, r stage.Report, want []string) {
	t.Helper()
	got := r.Names()
	for _, n := range want {
		if !slices.Contains(got, n) {
			t.Errorf("not found: %s", n)
		}
	}
	for _, n := range got {
		if !slices.Contains(want, n) {
			t.Errorf("found, and not loaded: %s", n)
		}
	}
	t.Logf("%d findings, %d loaded", len(got), len(want))
}

// measured runs check and tells what it took.
func measured(t *testing.T, l *lab.Lab, bin, state string, args ...string) stage.Report {
	t.Helper()
	args = append([]string{"check", "-o", "json", "-v"}, args...)
	if l.Datastore == lab.Etcd {
		ca, crt, key := l.EtcdCerts("read-only")
		args = append(args, "--etcd-endpoints="+l.EtcdEndpoint(), "--etcd-cacert="+ca, "--etcd-cert="+crt, "--etcd-key="+key)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(append(os.Environ(), l.Env()...), "XDG_STATE_HOME="+state)
	var diag strings.Builder
	cmd.Stderr = &diag
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		t.Fatalf("check: %v: %s", err, diag.String())
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("check %v: %.1f s, %.1f s CPU, %d MB at most\n%s", args[4:min(len(args), 6)], took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), usage.Maxrss>>10, diag.String())
	r := stage.Report{Exit: cmd.ProcessState.ExitCode()}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// bare downloads what check downloads and does nothing with it: what we measure
// ourselves against.
func bare(t *testing.T, l *lab.Lab) {
	t.Helper()
	for _, q := range []struct{ path, accept string }{
		{"/api/v1/pods", "application/vnd.kubernetes.protobuf"},
		{"/apis/crd.projectcalico.org/v1/ipamhandles", "application/json"},
		{"/apis/crd.projectcalico.org/v1/ipamblocks", "application/json"},
	} {
		if l.Datastore == lab.Etcd && strings.Contains(q.path, "calico") {
			continue
		}
		start := time.Now()
		n, err := l.Download(t.Context(), q.path, q.accept)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("bare %-45s %.1f s, %d MB", q.path, time.Since(start).Seconds(), n>>20)
	}
}
