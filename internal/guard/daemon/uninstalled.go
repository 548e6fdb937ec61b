package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

const (
	leaving    = 12 * time.Second // for all that is done at the end
	askingLast = 3 * time.Second
	maxAnswer  = 1 << 20
)

// goodbye removes the guard from the node's CNI configuration if the guard daemon ends for good: the
// DaemonSet that it is of was deleted. Otherwise nothing is changed: the next guard daemon goes on.
func (k *daemon) goodbye() {
	if k.Uninstalled == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), leaving)
	defer stop()
	switch gone, err := k.Uninstalled(ctx); {
	case err != nil:
		k.Log.Info("whether the guard is uninstalled is not known: it stays", "error", err)
		return
	case !gone:
		return
	}
	k.install.mode = guard.Off
	k.keepMode(guard.Off)
	if why := k.reconcile(ctx); why != "" {
		k.Log.Warn("uninstalled, and the guard may still be in the CNI configuration", "error", why)
		return
	}
	k.Log.Info("uninstalled: the guard is no longer in the CNI configuration")
}

// A daemonSet is where the guard daemon asks whether it is uninstalled: its own DaemonSet and its
// namespace, of which pods may be deleted first, with the account of its pod. It sends no other
// request to Kubernetes, and these at its end.
type daemonSet struct {
	name string
	dir  string // with token, ca.crt and namespace
	api  string // HOST:PORT
}

// inCluster returns the DaemonSet of a guard daemon that runs in a pod; false if it does not.
func inCluster(name, dir string, getenv func(string) string) (daemonSet, bool) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	return daemonSet{name, dir, net.JoinHostPort(host, port)}, name != "" && host != "" && port != ""
}

// deleted reports whether the DaemonSet is deleted, or being deleted.
func (d daemonSet) deleted(ctx context.Context) (bool, error) {
	ctx, stop := context.WithTimeout(ctx, askingLast)
	defer stop()
	var files [3]string
	for i, name := range []string{"token", "ca.crt", "namespace"} {
		b, err := os.ReadFile(filepath.Join(d.dir, name))
		if err != nil {
			return false, err
		}
		files[i] = strings.TrimSpace(string(b))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(files[1])) {
		return false, errors.New("no certificate authority of the API server")
	}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer c.CloseIdleConnections()
	for _, of := range []string{"/api/v1/namespaces/" + files[2], "/apis/apps/v1/namespaces/" + files[2] + "/daemonsets/" + d.name} {
		if gone, err := asked(ctx, &c, "https://"+d.api+of, files[0]); gone || err != nil {
			return gone, err
		}
	}
	return false, nil
}

func asked(ctx context.Context, c *http.Client, url, token string) (bool, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Accept", "application/json")
	a, err := c.Do(q)
	if err != nil {
		return false, err
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err != nil {
		return false, err
	}
	return deletedBy(a.StatusCode, body)
}

// deletedBy reads the API server's answer. Without the right to ask, which is installed and removed
// together with the DaemonSet, it is being uninstalled.
func deletedBy(status int, body []byte) (bool, error) {
	switch status {
	case http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden:
		return true, nil
	case http.StatusOK:
	default:
		return false, fmt.Errorf("the API server answers %d", status)
	}
	var set struct {
		Kind     string
		Metadata struct {
			DeletionTimestamp string
		}
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return false, fmt.Errorf("read the API server's answer: %w", err)
	}
	if set.Kind != "DaemonSet" && set.Kind != "Namespace" {
		return false, fmt.Errorf("the answer is a %.32q", set.Kind)
	}
	return set.Metadata.DeletionTimestamp != "", nil
}
