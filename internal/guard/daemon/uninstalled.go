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
	askingLast = 2 * time.Second
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
	is, err := k.Uninstalled(ctx)
	for try := 1; err == nil && is == noLongerAllowed && try < askedOften; try++ {
		select {
		case <-ctx.Done():
		case <-time.After(askAgain):
		}
		is, err = k.Uninstalled(ctx)
	}
	switch {
	case err != nil:
		k.Log.Info("whether the guard is uninstalled is not known: it stays", "error", err)
		return
	case is == installed:
		return
	}
	was := k.install.mode
	k.install.mode = guard.Off
	if is == deleted {
		k.keepMode(guard.Off)
	} else { // if it was a mistake, the next guard daemon goes on as before
		defer func() { _ = settle(k.file(guard.ModeFile), string(was)+"\n") }()
	}
	if why := k.reconcile(ctx); why != "" {
		k.Log.Warn("uninstalled, and the guard may still be in the CNI configuration", "error", why)
		return
	}
	if is == noLongerAllowed {
		why := "the guard daemon ended while the API server refused to say whether its DaemonSet is deleted, and took the guard out of the CNI configuration: the next guard daemon puts it back"
		k.Log.Warn(why)
		k.say(func(r *guard.Report) { r.Wanted, r.Why = was, why })
	} else {
		k.Log.Info("uninstalled: the guard is no longer in the CNI configuration")
	}
	k.tells(ctx)
}

// An installation is what Kubernetes says of the DaemonSet.
type installation int

const (
	installed installation = iota
	deleted                // or being deleted
	// noLongerAllowed: the right to ask is installed and removed together with the DaemonSet. But an API
	// server that begins, and a pod that was deleted by force, look the same for a moment.
	noLongerAllowed
)

const (
	askedOften = 3
	askAgain   = 2 * time.Second
)

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

// state asks whether the DaemonSet or its namespace is deleted, or being deleted.
func (d daemonSet) state(ctx context.Context) (installation, error) {
	ctx, stop := context.WithTimeout(ctx, askingLast)
	defer stop()
	var files [3]string
	for i, name := range []string{"token", "ca.crt", "namespace"} {
		b, err := os.ReadFile(filepath.Join(d.dir, name))
		if err != nil {
			return installed, err
		}
		files[i] = strings.TrimSpace(string(b))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(files[1])) {
		return installed, errors.New("no certificate authority of the API server")
	}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer c.CloseIdleConnections()
	for _, of := range []string{"/api/v1/namespaces/" + files[2], "/apis/apps/v1/namespaces/" + files[2] + "/daemonsets/" + d.name} {
		if is, err := asked(ctx, &c, "https://"+d.api+of, files[0]); is != installed || err != nil {
			return is, err
		}
	}
	return installed, nil
}

func asked(ctx context.Context, c *http.Client, url, token string) (installation, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return installed, err
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Accept", "application/json")
	a, err := c.Do(q)
	if err != nil {
		return installed, err
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err != nil {
		return installed, err
	}
	return deletedBy(a.StatusCode, body)
}

// deletedBy reads the API server's answer.
func deletedBy(status int, body []byte) (installation, error) {
	switch status {
	case http.StatusNotFound:
		return deleted, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return noLongerAllowed, nil
	case http.StatusOK:
	default:
		return installed, fmt.Errorf("the API server answers %d", status)
	}
	var set struct {
		Kind     string
		Metadata struct {
			DeletionTimestamp string
		}
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return installed, fmt.Errorf("read the API server's answer: %w", err)
	}
	if set.Kind != "DaemonSet" && set.Kind != "Namespace" {
		return installed, fmt.Errorf("the answer is a %.32q", set.Kind)
	}
	if set.Metadata.DeletionTimestamp != "" {
		return deleted, nil
	}
	return installed, nil
}
