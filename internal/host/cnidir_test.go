package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// The runtime says where its configurations are; /etc/cni/net.d may hold another's.
func TestConfigDirOfRuntime(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "etc/cni/net.d/100-crio-bridge.conflist", `{"name":"crio","plugins":[{"type":"bridge"}]}`)
	write(t, root, "var/snap/microk8s/current/args/cni-network/cni.conflist", list)
	answer, unread := "/var/snap/microk8s/current/args/cni-network", error(nil)
	h := New(Options{Root: root, Runtime: func(context.Context) (string, error) { return answer, unread }})
	read := func() (string, error) {
		var f model.NodeState
		err := h.readConfigs(t.Context(), &f)
		var names []string
		for _, c := range f.CNIConfigs {
			names = append(names, fmt.Sprint(c.File, c.Plugins))
		}
		return strings.Join(names, " "), err
	}
	const calicos = "cni.conflist[calico portmap]"
	if got, err := read(); got != calicos || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	answer, unread = "", errors.New("the runtime does not answer")
	if got, err := read(); got != calicos || err != nil {
		t.Errorf("the runtime hangs: %s, %v", got, err)
	}
	if dir := h.lastConfigDir(); dir != "/var/snap/microk8s/current/args/cni-network" {
		t.Errorf("watched: %s", dir)
	}
	h = New(Options{Root: root, Runtime: h.o.Runtime})
	if got, err := read(); got != "" || err == nil || errors.Is(err, observe.ErrNotThere) || !strings.Contains(err.Error(), "the runtime does not answer") {
		t.Errorf("the runtime has never answered: %q, %v", got, err)
	}
	answer, unread = "", observe.ErrNotThere // as CRI-O
	if got, err := read(); got != "100-crio-bridge.conflist[bridge]" || err != nil {
		t.Errorf("the usual directory: %s, %v", got, err)
	}
	write(t, root, "etc/kubernetes/cni/net.d/10-calico.conflist", list)
	write(t, root, "etc/crio/crio.conf", "[crio.network]\n# network_dir = \"/wrong\"\nnetwork_dir = \"/old\"\n")
	write(t, root, "etc/crio/crio.conf.d/00-default", "[crio.network]\nnetwork_dir = \"/etc/kubernetes/cni/net.d/\"\n")
	if got, err := read(); got != "10-calico.conflist[calico portmap]" || err != nil {
		t.Errorf("CRI-O's drop-in: %s, %v", got, err)
	}
}

// A runtime that is frozen delays a reading hardly, and is not asked again and again.
func TestFrozenRuntimeDelaysNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "etc/calico/net.d/10-calico.conflist", list)
	frozen := make(chan struct{})
	var asked atomic.Int32
	var hangs atomic.Bool
	h := New(Options{Root: root, Runtime: func(context.Context) (string, error) {
		asked.Add(1)
		if hangs.Load() {
			<-frozen
		}
		return "/etc/calico/net.d", nil
	}})
	var f model.NodeState
	if err := h.readConfigs(t.Context(), &f); err != nil || len(f.CNIConfigs) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	hangs.Store(true)
	for range 3 {
		began := time.Now() //nolint:forbidigo // how long it took
		f = model.NodeState{}
		if err := h.readConfigs(t.Context(), &f); err != nil || len(f.CNIConfigs) != 1 || time.Since(began) > 2*time.Second {
			t.Fatalf("after %s: %+v, %v", time.Since(began), f, err)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
	close(frozen)
}

// Multus' delegates are in its own configuration, or in a directory of its own.
func TestMultusDelegates(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "etc/cni/net.d/00-multus.conf", `{"name":"multus-cni-network","type":"multus","delegates":[`+list+`,{"type":"bridge","name":"b"},7]}`)
	h := New(Options{Root: root})
	var f model.NodeState
	if err := h.readConfigs(t.Context(), &f); err != nil || len(f.CNIConfigs) != 4 {
		t.Fatalf("%+v, %v", f.CNIConfigs, err)
	}
	c := f.CNIConfigs[1]
	if c.File != "00-multus.conf: k8s-pod-network" || c.Loaded || c.NodeName != "node-1" || c.IPAM != "calico-ipam" || !slices.Equal(c.Plugins, []string{"calico", "portmap"}) {
		t.Errorf("%+v", c)
	}
	if f.CNIConfigs[2].Plugins[0] != "bridge" || f.CNIConfigs[3].Error == "" {
		t.Errorf("%+v", f.CNIConfigs[2:])
	}
	write(t, root, "etc/cni/net.d/00-multus.conf", `{"name":"multus-cni-network","type":"multus-shim"}`)
	write(t, root, "run/multus/cni/net.d/10-calico.conflist", list)
	if err := h.readConfigs(t.Context(), &f); err != nil || len(f.CNIConfigs) != 2 || f.CNIConfigs[1].File != "/run/multus/cni/net.d/10-calico.conflist" || f.CNIConfigs[1].NodeName != "node-1" {
		t.Errorf("%+v, %v", f.CNIConfigs, err)
	}
}
