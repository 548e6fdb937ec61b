package cluster

import (
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

func TestRecognise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		components []map[string]string
		want       model.Info
	}{
		"manifest":             {[]map[string]string{{"CALICO_NETWORKING_BACKEND": "bird", "ipam-plugin": "calico-ipam"}}, model.Info{IPAM: "calico", Networking: "calico"}},
		"canal":                {[]map[string]string{{"CALICO_NETWORKING_BACKEND": "none", "USE_POD_CIDR": "true", "ipam-plugin": "host-local"}}, model.Info{IPAM: "host-local", Networking: "calico"}},
		"policy only":          {[]map[string]string{{"CALICO_NETWORKING_BACKEND": "none"}}, model.Info{IPAM: "other", Networking: "other"}},
		"none with its plugin": {[]map[string]string{{"CALICO_NETWORKING_BACKEND": "none", "ipam-plugin": "calico-ipam"}}, model.Info{IPAM: "calico", Networking: "calico"}},
		"EKS by operator":      {[]map[string]string{{}, {"cni": "AmazonVPC", "ipam": "AmazonVPC"}}, model.Info{IPAM: "other", Networking: "other"}},
		"VPP":                  {[]map[string]string{{}, {"cni": "Calico", "ipam": "Calico", "dataplane": "VPP"}}, model.Info{IPAM: "calico", Networking: "calico", Dataplane: "vpp"}},
		"eBPF by manifest":     {[]map[string]string{{"FELIX_BPFENABLED": "true"}}, model.Info{Dataplane: "bpf"}},
		"enterprise":           {[]map[string]string{{"variant": "TigeraSecureEnterprise", "cni": "Calico", "ipam": "Calico"}}, model.Info{IPAM: "calico", Networking: "calico", Enterprise: "unknown"}},
		"open source":          {[]map[string]string{{"variant": "Calico"}}, model.Info{}},
	} {
		var got model.Info
		for _, set := range c.components {
			recognise(&got, model.Component{Settings: set})
			recogniseVariant(&got, model.Component{Settings: set})
		}
		if got.IPAM != c.want.IPAM || got.Networking != c.want.Networking || got.Dataplane != c.want.Dataplane || got.Enterprise != c.want.Enterprise {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
