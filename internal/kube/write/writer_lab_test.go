//go:build e2e

package write

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientapi "k8s.io/client-go/tools/clientcmd/api"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

var manifest = flag.String("manifest", "../../../deploy/repair.yaml", "what is given to kubectl")

// TestLabWriter holds the writer, the lease, the kill switch, the journal and the account's
// rights against the real API server.
func TestLabWriter(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	e := &edge{T: t, l: l, admin: connected(t, l.Kubeconfig())}
	e.do("POST", "/api/v1/nodes", `{"metadata":{"name":"fake"}}`)
	for _, ns := range []string{"default", "kube-system"} { // no controller does it here
		e.do("POST", "/api/v1/namespaces/"+ns+"/serviceaccounts", `{"metadata":{"name":"default"}}`)
	}
	t.Run("status", e.status)
	t.Run("eviction", e.eviction)
	t.Run("existence", e.existence)
	t.Run("lease before the installation", func(t *testing.T) { e.lease(t, e.admin, "kube-system") })
	t.Run("switch", e.killSwitch)
	if err := l.Apply(t.Context(), e.read(*manifest)); err != nil {
		t.Fatal(err)
	}
	t.Run("switch in its namespace", e.killSwitch)
	account := e.account()
	t.Run("lease", func(t *testing.T) { e.lease(t, account, "plumbline-system") })
	t.Run("journal", func(t *testing.T) { e.journal(t, account) })
	t.Run("fence", e.fence)
	t.Run("account", func(t *testing.T) { e.rails(t, account) })
	t.Run("account and Calico IPAM", func(t *testing.T) { e.ipamRails(t, account) })
}

type edge struct {
	*testing.T
	l     *lab.Lab
	admin *kube.Client
}

func connected(t *testing.T, kubeconfig string) *kube.Client {
	t.Helper()
	c, err := kube.Connect(kube.Options{Kubeconfig: kubeconfig, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writing(t *testing.T, c *kube.Client) *Writer {
	t.Helper()
	w, err := New(c, kube.AgentNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (e *edge) do(method, path, body string) []byte {
	e.Helper()
	b, err := e.l.Do(e.Context(), method, path, body)
	if err != nil {
		e.Fatalf("%v: %s", err, b)
	}
	return b
}

func (e *edge) read(file string) string {
	e.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		e.Fatal(err)
	}
	return string(b)
}

func (e *edge) wait(what string, f func() error) {
	e.Helper()
	if err := lab.Eventually(e.Context(), 30*time.Second, func(context.Context) error { return f() }); err != nil {
		e.Fatalf("%s: %v", what, err)
	}
}

// runs makes a pod on a node that is not there and says that it runs.
func (e *edge) runs(ns, name, labels string) model.Ref {
	e.Helper()
	e.do("POST", "/api/v1/namespaces/"+ns+"/pods", fmt.Sprintf(`{"metadata":{"name":%q,"labels":%s,"annotations":{"kept":"yes"}},"spec":{"nodeName":"fake","automountServiceAccountToken":false,
		"terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"x"}]}}`, name, labels))
	e.reports(ns, name, "10.244.9.9")
	return model.Ref{Kind: model.KindPod, Name: ns + "/" + name}
}

// reports sets the status of a running pod, as a kubelet does.
func (e *edge) reports(ns, name, ip string) {
	e.Helper()
	at := "/api/v1/namespaces/" + ns + "/pods/" + name
	var pod map[string]any
	if err := e.l.Get(e.Context(), at, &pod); err != nil {
		e.Fatal(err)
	}
	pod["status"] = map[string]any{
		"phase": "Running", "podIP": ip, "podIPs": []any{map[string]string{"ip": ip}},
		"conditions": []any{map[string]string{"type": "Ready", "status": "True"}},
	}
	b, err := json.Marshal(pod)
	if err != nil {
		e.Fatal(err)
	}
	e.do("PUT", at+"/status", string(b))
}

func (e *edge) get(t *testing.T, s PodStore, r model.Ref) (model.Object, model.PodBody) {
	t.Helper()
	o, err := s.Get(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var b model.PodBody
	if o.There() && len(o.Body) > 0 {
		if err := json.Unmarshal(o.Body, &b); err != nil {
			t.Fatal(err)
		}
	}
	return o, b
}

func with(t *testing.T, o model.Object, b model.PodBody) model.Object {
	t.Helper()
	var err error
	if o.Body, err = json.Marshal(b); err != nil {
		t.Fatal(err)
	}
	return o
}

// account connects as plumbline-repairer, once its policies are at work.
func (e *edge) account() *kube.Client {
	e.Helper()
	token, err := e.l.Kubectl(e.Context(), "-n", "plumbline-system", "create", "token", "plumbline-repairer")
	if err != nil {
		e.Fatal(err)
	}
	cfg, err := clientcmd.LoadFromFile(e.l.Kubeconfig())
	if err != nil {
		e.Fatal(err)
	}
	for k := range cfg.AuthInfos {
		cfg.AuthInfos[k] = &clientapi.AuthInfo{Token: strings.TrimSpace(token)}
	}
	file := filepath.Join(e.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, file); err != nil {
		e.Fatal(err)
	}
	return connected(e.T, file)
}

// bare sends what our own list would not let through: it is the server's that is tested.
func bare(t *testing.T, c *kube.Client) func(method, path, contentType, body string) (int, string) {
	t.Helper()
	s, err := c.Sender(func(string, string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	w := &Writer{client: c, sender: s}
	return func(method, path, contentType, body string) (int, string) {
		a, err := w.once(t.Context(), kube.Request{Method: method, Path: path, Accept: kube.AcceptJSON, Body: []byte(body), Header: http.Header{"Content-Type": {contentType}}})
		if err != nil {
			t.Fatal(err)
		}
		return a.code, string(a.body)
	}
}
