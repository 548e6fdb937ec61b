package guard

import (
	"strings"
	"testing"
)

// As they were seen in logs and sources of Calico.
var seenErrors = map[string]Fault{
	"resource does not exist: WorkloadEndpoint(workload=default.web-0)":                                                         NoEndpoint,
	"failed to open netns \"/var/run/netns/cni-1\": failed to Statfs \"/var/run/netns/cni-1\": no such file or directory":       NoNamespace,
	"resource does not exist: WorkloadEndpoint(workload=http-api.token-server-0)":                                               NoEndpoint,
	"resource does not exist: WorkloadEndpoint(a: connection refused)":                                                          API,
	"failed to open netns \"/var/run/netns/api\": failed to Statfs \"/var/run/netns/api\": no such file or directory":           NoNamespace,
	"resource does not exist: WorkloadEndpoint(workload=a.b":                                                                    NoEndpoint,
	"error getting ClusterInformation: connection is unauthorized: Unauthorized":                                                Authorization,
	"pods \"web-0\" is forbidden: User \"system:serviceaccount:calico\" cannot get resource":                                    Authorization,
	"error getting ClusterInformation: Get \"https://10.96.0.1:443/apis\": x509: certificate signed by unknown authority":       Authorization,
	"error getting ClusterInformation: Get \"https://10.96.0.1:443/apis\": dial tcp 10.96.0.1:443: connect: connection refused": API,
	"error getting ClusterInformation: resource does not exist: ClusterInformation(default)":                                    API,
	"resource does not exist: WorkloadEndpoint(workload=a.b) with error: the server could not find the requested resource":      API,
	"context deadline exceeded":                                       API,
	"etcdserver: request timed out":                                   API,
	"Calico is currently not ready to process requests":               Locked,
	"could not acquire ipam.lock: no such file or directory":          Locked,
	"stat /var/lib/calico/nodename: no such file or directory: check": Other,
	"update conflict: WorkloadEndpoint(a)":                            API,
	"something nobody has seen":                                       Other,
	"":                                                                Other,
}

func TestFault(t *testing.T) {
	for said, want := range seenErrors {
		if got := (DelegateError{Code: 999, Msg: said}).Fault(); got != want {
			t.Errorf("%q is %q, not %q", said, got, want)
		}
		if got := (DelegateError{Code: 999, Msg: "netplugin failed", Details: said}).Fault(); got != want {
			t.Errorf("%q as details is %q, not %q", said, got, want)
		}
	}
	if got := (DelegateError{Code: 11, Msg: "resource does not exist: WorkloadEndpoint("}).Fault(); got != API {
		t.Errorf("try again later is %q", got)
	}
}

func TestShouldSucceed(t *testing.T) {
	k := Known{Own: of("a", 2, Added), Mode: Enforce}
	for said, f := range seenErrors {
		if got, want := ShouldSucceed(call(Del), k, DelegateError{Msg: said}, true), f == NoEndpoint || f == NoNamespace; got != want {
			t.Errorf("%q: %t", said, got)
		}
	}
	harmless := DelegateError{Msg: "resource does not exist: WorkloadEndpoint(workload=default.web-0)"}
	observed, running := k, k
	observed.Mode, running.Running = Observe, true
	for name, got := range map[string]bool{
		"in observe":           ShouldSucceed(call(Del), observed, harmless, true),
		"an ADD":               ShouldSucceed(call(Add), k, harmless, true),
		"a living namespace":   ShouldSucceed(call(Del), k, harmless, false),
		"its ADD runs":         ShouldSucceed(call(Del), running, harmless, true),
		"an unknown container": ShouldSucceed(call(Del), Known{Mode: Enforce}, harmless, true),
	} {
		if got {
			t.Errorf("%s became success", name)
		}
	}
}

func FuzzFault(f *testing.F) {
	for said := range seenErrors {
		f.Add(uint(999), said, "")
	}
	f.Fuzz(func(t *testing.T, code uint, msg, details string) {
		e := DelegateError{code, msg, details}
		said := strings.ToLower(msg + details)
		for _, mark := range []string{"workloadendpoint(", "netns \"", "statfs \""} {
			said, _, _ = strings.Cut(said, mark) // names may follow
		}
		k := Known{Own: of("a", 2, Added), Mode: Enforce}
		if ShouldSucceed(call(Del), k, e, true) && (strings.Contains(said, "unauthorized") || strings.Contains(said, "forbidden") || strings.Contains(said, "refused")) {
			t.Errorf("%+v became success", e)
		}
	})
}
