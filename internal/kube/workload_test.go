package kube

import (
	"testing"
)

// Canal as its manifest and RKE2 install it, cut to what matters: its settings are in a ConfigMap.
const canal = `{"metadata":{"name":"rke2-canal","namespace":"kube-system","generation":2},
"spec":{"template":{"metadata":{"labels":{"k8s-app":"canal"}},"spec":{
 "initContainers":[{"name":"install-cni","image":"rancher/hardened-calico:v3.31.0-build20251016","env":[
  {"name":"CNI_NETWORK_CONFIG","valueFrom":{"configMapKeyRef":{"name":"rke2-canal-config","key":"cni_network_config"}}},
  {"name":"KUBERNETES_NODE_NAME","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]}],
 "containers":[
  {"name":"calico-node","image":"rancher/hardened-calico:v3.31.0-build20251016","env":[{"name":"DATASTORE_TYPE","value":"kubernetes"},{"name":"USE_POD_CIDR","value":"true"},
   {"name":"CALICO_NETWORKING_BACKEND","value":"none"},{"name":"CLUSTER_TYPE","value":"k8s,canal"},{"name":"ETCD_KEY","value":"hunter2"}]},
  {"name":"kube-flannel","image":"rancher/hardened-flannel:v0.27.4","env":[{"name":"FELIX_BPFENABLED","valueFrom":{"configMapKeyRef":{"name":"gone","key":"x"}}}]}]}}},
"status":{"observedGeneration":2,"desiredNumberScheduled":3,"updatedNumberScheduled":2,"numberReady":3}}`

const canalConfig = `{"name":"k8s-pod-network","cniVersion":"0.3.1","plugins":[
 {"type":"calico","mtu":__CNI_MTU__,"nodename":"__KUBERNETES_NODE_NAME__","ipam":{"type":"host-local","ranges":[[{"subnet":"usePodCidr"}]]}},{"type":"portmap"}]}`

func TestWorkload(t *testing.T) {
	t.Parallel()
	w, err := parseWorkload([]byte(canal))
	if err != nil || w.app() != "canal" {
		t.Fatalf("%q, %v", w.app(), err)
	}
	maps := configMaps{read: map[string]map[string]string{"kube-system/rke2-canal-config": {"cni_network_config": canalConfig}, "kube-system/gone": nil}}
	c, err := w.component(t.Context(), maps)
	if err != nil || c.Name != "rke2-canal" || c.Version != "v3.31.0-build20251016" || c.Wanted != 3 || c.Ready != 3 || c.Old != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	want := map[string]string{"USE_POD_CIDR": "true", "CALICO_NETWORKING_BACKEND": "none", "CLUSTER_TYPE": "k8s,canal", "DATASTORE_TYPE": "kubernetes", "ipam-plugin": "host-local"}
	for k, v := range want {
		if c.Settings[k] != v {
			t.Errorf("%s: %q, want %q", k, c.Settings[k], v)
		}
	}
	if len(c.Settings) != len(want) {
		t.Errorf("%v", c.Settings)
	}
}

// A version is that of Calico's container: one without a tag is not that of a container beside it.
func TestWorkloadVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"name":"calico-node","image":"calico/node:v3.31.0"}]`:                                                           "v3.31.0",
		`[{"name":"calico-node","image":"r:5000/calico/node@sha256:ab"},{"name":"sidecar","image":"r:5000/mesh:v3.31.0"}]`: "",
		`[{"name":"sidecar","image":"mesh:v9"},{"name":"calico-node","image":"r:5000/calico/node:v3.30.1@sha256:ab"}]`:     "v3.30.1",
	} {
		w, err := parseWorkload([]byte(`{"spec":{"template":{"spec":{"containers":` + text + `}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := w.component(t.Context(), configMaps{}); err != nil || c.Version != want {
			t.Errorf("%s: %q, %v", text, c.Version, err)
		}
	}
}

func TestInstallation(t *testing.T) {
	t.Parallel()
	c, err := parseInstallation([]byte(`{"spec":{"variant":"TigeraSecureEnterprise","cni":{"type":"Calico","ipam":{"type":"Calico"}},"calicoNetwork":{"linuxDataplane":"VPP"}}}`))
	if err != nil || c.Settings["variant"] != "TigeraSecureEnterprise" || c.Settings["dataplane"] != "VPP" || c.Settings["ipam"] != "Calico" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := parseInstallation([]byte(`{"spec":7}`)); err == nil {
		t.Error("no error")
	}
}

func FuzzWorkload(f *testing.F) {
	f.Add([]byte(canal))
	f.Add([]byte(canalConfig))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = ipamPlugin(string(b))
		w, err := parseWorkload(b)
		if err != nil {
			return
		}
		for _, k := range w.Spec.Template.Spec.Containers {
			_ = tag(k.Image)
		}
	})
}
