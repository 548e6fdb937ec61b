//go:build e2e

package size

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/lab"
)

// serversOf returns the servers of a lab that are read: the API server, and Calico's
// etcd if it has one.
func serversOf(t *testing.T, l *lab.Lab) map[string]server {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]server{toAPI: {URL: cfg.Host, CA: cfg.CAData, Cert: cfg.CertData, Key: cfg.KeyData}}
	if l.Datastore == lab.Etcd {
		var pem [3][]byte
		ca, crt, key := l.EtcdCerts("read-only")
		for i, path := range []string{ca, crt, key} {
			if pem[i], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		out[toEtcd] = server{URL: l.EtcdEndpoint(), CA: pem[0], Cert: pem[1], Key: pem[2]}
	}
	return out
}

// A watched is a server whose cost is measured: its process, and how many bytes it sent.
type watched struct {
	pid    int
	http   *http.Client
	url    string
	metric string // the metric of sent bytes, summed over all labels
}

func watch(t *testing.T, l *lab.Lab, servers map[string]server) map[string]*watched {
	t.Helper()
	parts, err := l.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*watched{}
	for _, p := range parts {
		w := &watched{pid: p.PID}
		store := map[string]string{"kube-apiserver": toAPI, "calico-etcd": toEtcd}[p.Name]
		if store == "" || !p.Running {
			continue // a part of an earlier lab may still be listed
		}
		w.metric = map[string]string{toAPI: "apiserver_response_sizes_sum", toEtcd: "etcd_network_client_grpc_sent_bytes_total"}[store]
		conf, err := servers[store].tls()
		if err != nil {
			t.Fatal(err)
		}
		w.url = servers[store].URL + "/metrics"
		w.http = &http.Client{Timeout: 3 * time.Minute, Transport: &http.Transport{TLSClientConfig: conf}}
		out[store] = w
	}
	return out
}

// sent is the number of response bytes that the server has sent.
func (w *watched) sent(t *testing.T) (sum int64) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewScanner(io.LimitReader(resp.Body, 64<<20))
	in.Buffer(nil, 1<<20)
	found := false
	for in.Scan() {
		if !strings.HasPrefix(in.Text(), w.metric) {
			continue
		}
		f := strings.Fields(in.Text())
		v, err := strconv.ParseFloat(f[len(f)-1], 64)
		if err != nil {
			t.Fatalf("%s: %v", w.metric, err)
		}
		sum, found = sum+int64(v), true
	}
	if in.Err() != nil || !found {
		t.Fatalf("%s: no metric %s: %v", w.url, w.metric, in.Err())
	}
	return sum
}

// forgetPeak resets the kernel's record of a process's largest size.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
