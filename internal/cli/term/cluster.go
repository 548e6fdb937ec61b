package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// Options are those of the cluster, with notices and progress on stderr; done removes the
// progress from the terminal.
func (s *Session) Options() (o cluster.Options, done func()) {
	o = s.Cluster
	o.StateDir, _ = s.StateDir()
	o.Notice = func(text string) { fmt.Fprintln(s.Stderr, plain.Clean(text)) }
	s.etcdFromEnvironment(&o)
	o.Progress, done = s.progress()
	return o, done
}

// etcdFromEnvironment takes Calico's etcd from the variables that calicoctl reads, unless flags say
// something else: see cluster.Options.EtcdFromEnv.
func (s *Session) etcdFromEnvironment(o *cluster.Options) {
	kind := cmp.Or(s.Getenv("CALICO_DATASTORE_TYPE"), s.Getenv("DATASTORE_TYPE"))
	if o.Datastore == "kdd" || len(o.Etcd.Endpoints) > 0 || s.Getenv("ETCD_ENDPOINTS") == "" || kind != "etcdv3" && o.Datastore != "etcd" {
		return
	}
	for e := range strings.SplitSeq(s.Getenv("ETCD_ENDPOINTS"), ",") {
		o.Etcd.Endpoints = append(o.Etcd.Endpoints, strings.TrimSpace(e))
	}
	o.Etcd.CACert = cmp.Or(o.Etcd.CACert, s.Getenv("ETCD_CA_CERT_FILE"))
	o.Etcd.Cert = cmp.Or(o.Etcd.Cert, s.Getenv("ETCD_CERT_FILE"))
	o.Etcd.Key = cmp.Or(o.Etcd.Key, s.Getenv("ETCD_KEY_FILE"))
	o.EtcdFromEnv = true
}

// Open opens the cluster; done is that of Options.
func (s *Session) Open(ctx context.Context) (c *cluster.Cluster, done func(), err error) {
	o, done := s.Options()
	c, err = cluster.Open(ctx, o)
	if err != nil {
		done()
		return nil, nil, err
	}
	return c, done, nil
}

// Check makes one check, of the bundle or of the cluster. Of the cluster, labels restrict it to
// findings about the pods that have them.
func (s *Session) Check(ctx context.Context, o audit.Options, namespace, labels string) (*audit.Report, error) {
	if s.Bundle != "" && labels != "" {
		return nil, errors.New("--selector: not with --bundle, which contains no labels")
	}
	if s.Bundle != "" {
		return cluster.CheckBundle(ctx, s.Bundle, o)
	}
	c, done, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer c.Close()
	return c.CheckSelected(ctx, o, namespace, labels)
}

// StateDir is where journals are kept, and unconfirmed findings.
func (s *Session) StateDir() (string, error) {
	dir := s.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home := s.Getenv("HOME")
		if home == "" {
			return "", errors.New("no place for a journal: set HOME or XDG_STATE_HOME")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return dir, nil
}
