package cri

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/observe"
)

const cniconfig = `{"PluginDirs":["/opt/cni/bin"],"PluginConfDir":"/etc/cni/net.d","PluginMaxConfNum":1,"Prefix":"eth","Networks":[
{"Config":{"Name":"cni-loopback","CNIVersion":"0.3.1","Plugins":[{"Network":{"type":"loopback","ipam":{},"dns":{}},"Source":"{\"type\":\"loopback\"}"}],"Source":"{}"},"IFName":"lo"},
{"Config":{"Name":"k8s-pod-network","CNIVersion":"0.3.1","Plugins":[{"Network":{"type":"plumbline-cni","ipam":{},"dns":{}},"Source":"{\"k8s_auth_token\":\"s3cret\"}"},{"Network":{"type":"portmap"},"Source":""}],"Source":"s3cret"},"IFName":"eth0"}]}`

const cniDirs = `{"cni":{"binDir":"/opt/cni/bin","confDir":"/etc/cni/net.d"}}`

func TestParseNetworking(t *testing.T) {
	t.Parallel()
	n, err := parseNetworking(map[string]string{"config": cniDirs, "cniconfig": cniconfig, "lastCNILoadStatus": "OK", "lastCNILoadStatus.default": "OK"})
	if err != nil || n.ConfDir != "/etc/cni/net.d" || !slices.Equal(n.BinDirs, []string{"/opt/cni/bin"}) || n.Trouble != "" || len(n.Networks) != 2 {
		t.Fatalf("%+v, %v", n, err)
	}
	if w := n.Networks[1]; w.Name != "k8s-pod-network" || w.IfName != "eth0" || !slices.Equal(w.Types, []string{"plumbline-cni", "portmap"}) {
		t.Errorf("%+v", w)
	}
	if strings.Contains(fmt.Sprint(n), "s3cret") {
		t.Error("a credential was kept")
	}
	n, err = parseNetworking(map[string]string{"config": cniDirs, "cniconfig": `{"Networks":null}`, "lastCNILoadStatus": "cni config load failed:\x07 none"})
	if err != nil || len(n.Networks) != 0 || n.Trouble != "cni config load failed:  none" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, m := range []map[string]string{{}, {"config": cniDirs}, {"cniconfig": cniconfig}} {
		if _, err := parseNetworking(m); !errors.Is(err, observe.ErrNotThere) {
			t.Errorf("%v: %v", m, err)
		}
	}
	for _, bad := range []string{``, `{"Networks":[null]}`, `{"Networks":[{"IFName":"eth0"}]}`, `{"Networks":[{"Config":{"Plugins":[null]}}]}`, `{"Networks":[{"Config":{"Plugins":[{"Network":{"type":""}}]}}]}`, `{"Networks":"s3cret"}`} {
		if _, err := parseNetworking(map[string]string{"config": cniDirs, "cniconfig": bad}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func FuzzParseNetworks(f *testing.F) {
	f.Add(cniconfig)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseNetworks(text)
		if err != nil && all != nil || len(all) > maxNetworks {
			t.Errorf("%d networks, %v", len(all), err)
		}
		for _, n := range all {
			if len(n.Types) > maxPlugins || slices.Contains(n.Types, "") {
				t.Errorf("%+v", n)
			}
		}
	})
}
