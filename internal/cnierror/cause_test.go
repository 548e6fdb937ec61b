package cnierror

import (
	"strings"
	"testing"
)

// What kubelets, runtimes and Calico's plugin wrote when an ADD failed, and why.
func TestCauseOf(t *testing.T) {
	t.Parallel()
	const before = `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "` + id + `": plugin type="calico" failed (add): `
	for text, want := range map[string]string{
		before + `error getting ClusterInformation: connection is unauthorized: Unauthorized`:                                                                 "unauthorized",
		before + `error getting ClusterInformation: Get "https://10.96.0.1:443/apis": tls: failed to verify certificate: x509: certificate has expired`:       "certificate",
		before + `pods "web" is forbidden: User "system:serviceaccount:kube-system:calico-cni-plugin" cannot get resource "pods"`:                             "forbidden",
		before + `stat /var/lib/calico/nodename: no such file or directory: check that the calico/node container is running and has mounted /var/lib/calico/`: "nodename is missing",
		before + `failed to find plugin "calico-ipam" in path [/opt/cni/bin]`:                                                                                 "program is missing",
		before + `Calico is currently not ready to process requests`:                                                                                          "locked",
		before + `failed to request IPv4 addresses: no configured Calico pools for node node3`:                                                                "no enabled pool",
		before + `failed to request IPv4 addresses: cannot allocate new block due to per host block limit`:                                                    "maxBlocksPerHost",
		before + `failed to request IPv4 addresses: Assigned 0 out of 1 requested IPv4 addresses; No IPs available in pools: [10.0.0.0/16]`:                   "no address is free",
		before + `error adding host side routes for interface: cali123, error: failed to add route file exists`:                                               "another interface",
		before + `error getting ClusterInformation: Get "https://10.96.0.1:443/apis": dial tcp 10.96.0.1:443: i/o timeout`:                                    "does not reach",
		before + `netplugin failed with no error message: signal: killed`:                                                                                     "too long",
		`Failed to create pod sandbox: rpc error: code = Unknown desc = [failed to set up sandbox container "` + id + `" network for pod "p": networkPlugin cni failed to set up pod "p_ns" network: error getting ClusterInformation: connection is unauthorized: Unauthorized, failed to clean up sandbox container "` + id + `" network for pod "p": networkPlugin cni failed to teardown pod "p_ns" network: error getting ClusterInformation: connection is unauthorized: Unauthorized]`: "unauthorized",
		before + `something new`: "",
		`failed to set up sandbox container "x" network for pod "web": networkPlugin cni failed to set up pod "web_shop" network: unauthorized`: "unauthorized",
	} {
		got := CauseOf(text).Says
		if want == "" && got != "" || !strings.Contains(got, want) || !IsFailedAdd(text) {
			t.Errorf("%s\n%q, an ADD: %t; want %q", text, got, IsFailedAdd(text), want)
		}
	}
	if got := OwnWords(before + "why"); got != "why" {
		t.Errorf("own words %q", got)
	}
	for _, text := range []string{"", "Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = failed to pull image", `failed to destroy network for sandbox "` + id + `": plugin type="calico" failed (delete): x`} {
		if IsFailedAdd(text) {
			t.Errorf("%q is called a failed ADD", text)
		}
	}
}

func FuzzCauseOf(f *testing.F) {
	f.Add(`failed (add): adding host side routes: a: b: file exists`)
	f.Fuzz(func(t *testing.T, text string) {
		CauseOf(text)
		if got := OwnWords(text); len(got) > len(text) {
			t.Errorf("%q", got)
		}
	})
}
