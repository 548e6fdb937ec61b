package write

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/kube"
)

const (
	anyPod   = "/api/v1/namespaces/shop/pods/db-0"
	anyBlock = "/apis/crd.projectcalico.org/v1/ipamblocks/10-244-8-0-26"
	ourLease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/plumbline-apply"
	ourMap   = "/api/v1/namespaces/plumbline-system/configmaps/plumbline-journal-7f3a-0"
	calicos  = "/api/v1/namespaces/kube-system/pods/calico-kube-controllers-6c9f7b-x7k2p"
	oneStep  = "/api/v1/namespaces/plumbline-system/pods/https:plumbline-agent-x7k2p:9474/proxy/v1/step"
)

func parent(at string) string { return at[:strings.LastIndexByte(at, '/')] }

var usual = allowedIn(kube.AgentNamespace)

// The lease and the journals are where the agents are, and nowhere else.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	there := allowedIn("a.b")
	for _, at := range []string{ourLease, ourMap} {
		for ns, want := range map[string]bool{"a.b": true, "axb": false, "a.b2": false, kube.AgentNamespace: false} {
			path := regexp.MustCompile(`/namespaces/[^/]+/`).ReplaceAllString(at, "/namespaces/"+ns+"/")
			if got := there.may("PUT", path); got != want {
				t.Errorf("PUT %s: %t", path, got)
			}
		}
	}
	if _, err := New(nil, "a/../b"); err == nil {
		t.Error("a namespace that is a path")
	}
}

func TestWhatRepairsSend(t *testing.T) {
	t.Parallel()
	may := map[string]bool{}
	for _, c := range [][2]string{
		{"GET", "/api/v1/pods"},
		{"GET", anyPod},
		{"GET", ourLease},
		{"GET", strings.Replace(oneStep, "step", "verify", 1)},
		{"POST", parent(anyBlock)},
		{"PUT", anyBlock},
		{"DELETE", anyBlock},
		{"PUT", "/apis/crd.projectcalico.org/v1/ipamhandles/k8s-pod-network.0123abc"},
		{"DELETE", "/apis/crd.projectcalico.org/v1/blockaffinities/w1-10-244-8-0-26"},
		{"PATCH", anyPod + "/status"},
		{"POST", anyPod + "/eviction"},
		{"DELETE", calicos},
		{"DELETE", "/api/v1/namespaces/calico-system/pods/calico-node-x7k2p"},
		{"POST", parent(ourLease)},
		{"PUT", ourLease},
		{"PUT", strings.Replace(ourLease, "kube-system", "plumbline-system", 1)},
		{"POST", parent(ourMap)},
		{"PUT", ourMap},
		{"DELETE", ourMap},
		{"POST", oneStep},
	} {
		may[c[0]+" "+c[1]] = true
		if !usual.may(c[0], c[1]) {
			t.Errorf("%s was not sent", c)
		}
	}
	for _, path := range hostilePaths() {
		for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "patch", "Delete"} {
			if may[m+" "+path] || m == http.MethodGet && !strings.Contains(path, "/exec") {
				continue
			}
			u, err := url.Parse("https://x" + path)
			if err != nil {
				t.Fatal(err)
			}
			if usual.may(m, path) || usual.may(m, u.Path) {
				t.Errorf("%s %s was sent", m, path)
			}
		}
	}
}

func hostilePaths() []string {
	out := []string{
		"/", "/api/v1/pods", "/api/v1/namespaces/shop/pods", anyPod, anyPod + "/exec", anyPod + "/ephemeralcontainers", anyPod + "/binding", anyPod + "/resize", anyPod + "/log",
		"/api/v1/namespaces/shop/secrets/plumbline-journal-7f3a-0", "/api/v1/namespaces/shop", "/api/v1/nodes/w1", "/api/v1/nodes/w1/status", "/api/v1/namespaces/plumbline-system/serviceaccounts/plumbline-reader/token",
		"/apis/crd.projectcalico.org/v1/ippools", "/apis/crd.projectcalico.org/v1/ippools/default", "/apis/crd.projectcalico.org/v1/ipamconfigs/default",
		"/apis/crdxprojectcalico.org/v1/ipamblocks/a", "/apis/crd.projectcalico.org/v3/ipamblocks/a", "/apis/projectcalico.org/v3/ipamblocks/a",
		"/apis/crd.projectcalico.org/v1/ipamblocks/", "/apis/crd.projectcalico.org/v1/ipamblocks/a/b", "/apis/crd.projectcalico.org/v1/ipamblocks/..", "/apis/crd.projectcalico.org/v1/ipamblocks/A",
		"/apis/crd.projectcalico.org/v1/ipamblocks/a/../../../../../api/v1/nodes/w1", "/apis/crd.projectcalico.org/v1/ipamblocks/a%0a",
		strings.Replace(calicos, "kube-system", "shop", 1), strings.Replace(calicos, "calico-kube-controllers", "calico-typha", 1), "/api/v1/namespaces/kube-system/pods/coredns-x7k2p",
		"/api/v1/namespaces/kube-system/pods/calico-node", "/api/v1/namespaces/kube-system/pods/calico-nodes-1",
		strings.Replace(ourLease, "kube-system", "shop", 1), ourLease + "-2", strings.Replace(ourLease, "plumbline-apply", "kube-controller-manager", 1), ourLease + "/status",
		strings.Replace(ourMap, "plumbline-system", "kube-system", 1), "/api/v1/namespaces/plumbline-system/configmaps/plumbline-stop", "/api/v1/namespaces/plumbline-system/configmaps/kube-root-ca.crt",
		ourMap + "/x", "/api/v1/namespaces/plumbline-system/configmaps/plumbline-journal-", "/api/v1/namespaces/plumbline-system/configmaps/plumbline-journal-a",
		strings.Replace(oneStep, "9474", "10250", 1), strings.Replace(oneStep, "https:", "", 1), strings.Replace(oneStep, "step", "../../x", 1), parent(parent(oneStep)), parent(parent(oneStep)) + "/",
		anyPod + "/status/", anyPod + "/eviction/x", "/api/v1/namespaces/a/../b/pods/c/status", "/api/v1/namespaces/a%2fb/pods/c/status", "/api/v1/namespaces/a/pods/c%2fd/status", "/x" + anyPod + "/status",
	}
	for _, p := range []string{anyBlock, ourLease, ourMap, calicos, oneStep, anyPod + "/status", anyPod + "/eviction", parent(anyBlock), parent(ourLease), parent(ourMap)} {
		out = append(out, p, p+"/", p+"%00", "/"+p)
	}
	return out
}

// What the path does not tell, the body must.
func TestNothingIsWrittenWithoutCompare(t *testing.T) {
	t.Parallel()
	const (
		swap  = `{"metadata":{"name":"NAME","uid":"u","resourceVersion":"7"}}`
		both  = `{"preconditions":{"uid":"u","resourceVersion":"7"}}`
		patch = `{"metadata":{"uid":"u","resourceVersion":"7","annotations":{"cni.projectcalico.org/podIP":"10.0.0.5/32","cni.projectcalico.org/podIPs":null}}}`
		evict = `{"metadata":{"name":"db-0"},"deleteOptions":{"preconditions":{"uid":"u"}}}`
	)
	named := func(name string) string { return strings.Replace(swap, "NAME", name, 1) }
	ask := func(method, path, body, query string) error {
		r := kube.Request{Method: method, Path: path, Body: []byte(body), Header: http.Header{"Content-Type": {strategicMerge}}}
		if k, v, ok := strings.Cut(query, "="); ok {
			r.Query = map[string][]string{k: {v}}
		}
		return usual.sound(r)
	}
	for _, c := range [][4]string{
		{"PUT", anyBlock, named("10-244-8-0-26"), "dryRun=All"},
		{"DELETE", anyBlock, both, ""},
		{"DELETE", calicos, `{"preconditions":{"uid":"u"}}`, ""},
		{"POST", parent(anyBlock), `{"metadata":{"name":"10-244-8-0-26"}}`, ""},
		{"POST", parent(ourLease), `{"metadata":{"name":"plumbline-apply"}}`, ""},
		{"POST", parent(ourMap), `{"metadata":{"name":"plumbline-journal-7f3a-0"}}`, ""},
		{"POST", anyPod + "/eviction", evict, "dryRun=All"},
		{"PATCH", anyPod + "/status", patch, ""},
		{"POST", oneStep, "", ""},
	} {
		if err := ask(c[0], c[1], c[2], c[3]); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
	for _, c := range [][4]string{
		{"PUT", anyBlock, named("another"), ""},
		{"PUT", anyBlock, `{"metadata":{"name":"10-244-8-0-26","uid":"u"}}`, ""},
		{"PUT", anyBlock, `{"metadata":{"name":"10-244-8-0-26","resourceVersion":"7"}}`, ""},
		{"PUT", anyBlock, named("10-244-8-0-26"), "dryRun=None"},
		{"DELETE", anyBlock, ``, ""},
		{"DELETE", anyBlock, `{}`, ""},
		{"DELETE", anyBlock, `{"preconditions":{"uid":"u"}}`, ""},
		{"DELETE", calicos, `{"preconditions":{"resourceVersion":"7"}}`, ""},
		{"DELETE", calicos, `{"preconditions":{"uid":"u"},"gracePeriodSeconds":0}`, ""},
		{"DELETE", calicos, `{"preconditions":{"uid":"u"}}`, "gracePeriodSeconds=0"},
		{"POST", parent(anyBlock), `{"metadata":{"generateName":"a"}}`, ""},
		{"POST", parent(anyBlock), `{"metadata":{"name":"a/b"}}`, ""},
		{"POST", parent(ourLease), `{"metadata":{"name":"kube-scheduler"}}`, ""},
		{"POST", parent(ourMap), `{"metadata":{"name":"plumbline-stop"}}`, ""},
		{"POST", anyPod + "/eviction", strings.Replace(evict, "db-0", "db-1", 1), ""},
		{"POST", anyPod + "/eviction", `{"metadata":{"name":"db-0"}}`, ""},
		{"POST", anyPod + "/eviction", strings.Replace(evict, `"preconditions"`, `"gracePeriodSeconds":0,"preconditions"`, 1), ""},
		{"PATCH", anyPod + "/status", strings.Replace(patch, "cni.projectcalico.org/podIPs", "kubernetes.io/config.mirror", 1), ""},
		{"PATCH", anyPod + "/status", strings.Replace(patch, `"annotations"`, `"labels":{},"annotations"`, 1), ""},
		{"PATCH", anyPod + "/status", strings.Replace(patch, `{"metadata"`, `{"status":{},"metadata"`, 1), ""},
		{"PATCH", anyPod + "/status", strings.Replace(patch, `"resourceVersion":"7",`, "", 1), ""},
		{"PATCH", anyPod + "/status", strings.Replace(patch, `"uid":"u",`, "", 1), ""},
		{"PATCH", anyPod + "/status", `[]`, ""},
	} {
		if ask(c[0], c[1], c[2], c[3]) == nil {
			t.Errorf("%s passes", c)
		}
	}
	if usual.sound(kube.Request{Method: "PATCH", Path: anyPod + "/status", Body: []byte(patch), Header: http.Header{"Content-Type": {"application/json-patch+json"}}}) == nil {
		t.Error("another kind of patch passes")
	}
}
