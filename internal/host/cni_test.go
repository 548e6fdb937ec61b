package host

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const (
	list = `{"name":"k8s-pod-network","cniVersion":"0.3.1","plugins":[
 {"type":"calico","nodename":"node-1","etcd_password":"hunter2","ipam":{"type":"calico-ipam"}},{"type":"portmap"}]}`
	guarded = `{"name":"k8s-pod-network","plugins":[{"type":"bandwidth"},{"type":"plumbline-cni","delegate":{"type":"calico","nodename":"node-1","ipam":{"type":"calico-ipam"}}}]}`
	record  = `{"kind":"cniCacheV1","containerId":"` + cidA + `","config":"aHVudGVyMg==","ifName":"eth0","networkName":"k8s-pod-network",
 "result":{"cniVersion":"0.3.1","ips":[{"address":"10.0.0.5/32"},{"address":"fd00::5/128"},{"address":"x"}]}}`
)

func write(t *testing.T, parts ...string) {
	t.Helper()
	path := filepath.Join(parts[:len(parts)-1]...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(parts[len(parts)-1]), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReadCNI(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "etc/cni/net.d/05-broken.conflist", list[:60])
	write(t, root, "etc/cni/net.d/10-calico.conflist", list)
	write(t, root, "etc/cni/net.d/20-other.conf", `{"name":"other","type":"bridge","ipam":{"type":"host-local"}}`)
	write(t, root, "etc/cni/net.d/calico-kubeconfig", "secret")
	write(t, root, "var/lib/cni/results/k8s-pod-network-"+cidA+"-eth0", record)
	write(t, root, "var/lib/cni/results/old-net-abc-eth1", `{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.6/24"}}`)
	h := New(Options{Root: root})
	var f model.NodeState
	if err := h.readCNI(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.CNIConfigs) != 3 || f.CNIConfigs[0].Error == "" || f.CNIConfigs[0].Loaded || f.CNIConfigs[2].Loaded || f.CNIConfigs[2].IPAM != "host-local" {
		t.Fatalf("got %+v", f.CNIConfigs)
	}
	c := f.CNIConfigs[1]
	if !c.Loaded || c.File != "10-calico.conflist" || c.Network != "k8s-pod-network" || c.NodeName != "node-1" || c.IPAM != "calico-ipam" || !slices.Equal(c.Plugins, []string{"calico", "portmap"}) {
		t.Errorf("got %+v", c)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("fd00::5/128")}
	if len(f.CNIResults) != 2 || f.CNIResults[0].Container != cidA || f.CNIResults[0].Interface != "eth0" || !slices.Equal(f.CNIResults[0].IPs, want) {
		t.Errorf("got %+v", f.CNIResults)
	}
	if r := f.CNIResults[1]; r.Network != "old-net" || r.Container != "abc" || r.Interface != "eth1" || len(r.IPs) != 1 {
		t.Errorf("got %+v", r)
	}
}

// A file that is being written is read again.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		write(t, root, "etc/cni/net.d/10-calico.conflist", list[:60])
		write(t, root, "var/lib/cni/results/x", record[:30])
		time.AfterFunc(writtenAfter/4, func() {
			_ = os.WriteFile(filepath.Join(root, "etc/cni/net.d/10-calico.conflist"), []byte(guarded), 0o600)
		})
		h := New(Options{Root: root})
		var f model.NodeState
		err := h.readCNI(t.Context(), &f)
		var blind observe.TableErrors
		if !errors.As(err, &blind) || blind[model.CNIConfigs] != nil || !errors.Is(blind[model.CNIResults], observe.ErrPartial) {
			t.Fatalf("got %v", err)
		}
		if len(f.CNIConfigs) != 1 || !f.CNIConfigs[0].Loaded || f.CNIConfigs[0].NodeName != "node-1" || f.CNIConfigs[0].IPAM != "calico-ipam" {
			t.Errorf("got %+v", f.CNIConfigs)
		}
	})
}

func TestNoCNI(t *testing.T) {
	t.Parallel()
	var blind observe.TableErrors
	err := New(Options{Root: t.TempDir()}).readCNI(t.Context(), &model.NodeState{})
	if !errors.As(err, &blind) || !errors.Is(blind[model.CNIConfigs], observe.ErrNotThere) || !errors.Is(blind[model.CNIResults], observe.ErrNotThere) {
		t.Errorf("got %v", err)
	}
}

// Links of the host lead to where they lead on the host, and a pipe does not hold us up.
func TestLinksStayInside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "real/10-calico.conflist", list)
	write(t, root, "etc/cni/x", "")
	for from, to := range map[string]string{"etc/cni/net.d": "/real", "real/20-out.conf": "../../../../../../../../etc/passwd"} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	h := New(Options{Root: root})
	var f model.NodeState
	_ = h.readCNI(t.Context(), &f)
	if len(f.CNIConfigs) != 1 || !f.CNIConfigs[0].Loaded {
		t.Errorf("got %+v", f.CNIConfigs)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(list), true)
	f.Add([]byte(guarded), true)
	f.Add([]byte(`{"type":"calico"}`), false)
	f.Add([]byte(`{"type":"multus","delegates":[`+list+`,7]}`), false)
	f.Fuzz(func(t *testing.T, b []byte, isList bool) {
		for _, c := range parseDelegates("f", b) {
			if strings.Contains(c.Error, "hunter2") || c.Error == "" && len(c.Plugins) == 0 {
				t.Errorf("%q: %+v", b, c)
			}
		}
		if c, _, err := parseConfig(b, isList); err == nil && (len(c.Plugins) == 0 || c.Plugins[0] == "") {
			t.Errorf("%q: %+v", b, c)
		} else if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", b, err)
		}
	})
}

func FuzzResult(f *testing.F) {
	f.Add("k8s-pod-network-abc-eth0", []byte(record))
	f.Add("a-b-c", []byte(`{"ip4":{"ip":"1.2.3.4/5"}}`))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		if r, err := parseResult(name, b); err == nil && r.Container == "" {
			t.Errorf("%q %q: %+v", name, b, r)
		}
	})
}

// Calico's datastore and the members of its etcd are read, without credentials.
func TestParseDatastore(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]struct {
		datastore string
		endpoints []string
	}{
		`"datastore_type":"kubernetes"`: {"kdd", nil},
		`"datastore_type":"etcdv3","etcd_endpoints":"https://root:sEcReT@etcd1:2379,http://10.0.0.1:2379"`: {"etcd", []string{"10.0.0.1:2379", "etcd1:2379"}},
		`"etcd_endpoints":"http://etcd1:4001"`:                             {"etcd", []string{"etcd1:4001"}},
		`"datastore_type":"kubernetes","etcd_endpoints":"http://old:2379"`: {"kdd", nil},
		`"datastore_type":"other"`:                                         {"", nil},
		`"ipam":{"type":"calico-ipam"}`:                                    {"", nil},
	} {
		for _, format := range []string{`{"name":"n","plugins":[{"type":"calico",%s}]}`, `{"name":"n","plugins":[{"type":"plumbline-cni","delegate":{"type":"calico",%s}}]}`} {
			c, _, err := parseConfig(fmt.Appendf(nil, format, entry), true)
			if err != nil || c.Datastore != want.datastore || !slices.Equal(c.Endpoints, want.endpoints) {
				t.Errorf("%s: %q %q, %v", entry, c.Datastore, c.Endpoints, err)
			}
		}
	}
}
