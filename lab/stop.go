package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// Stop stops the cluster and leaves the lab's namespaces empty, so that another cluster
// can be started in them.
func (l *Lab) Stop(ctx context.Context) error {
	parts, err := l.sup.List(ctx)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.Running {
			err = errors.Join(err, l.sup.Kill(ctx, p.Name))
		}
	}
	for i := range l.Machines {
		err = errors.Join(err, ip(ctx, nil, "link del port"+strconv.Itoa(l.Nodes+i+1)))
	}
	err = errors.Join(err, ip(ctx, nil, "link del "+bridge), removeCgroups(ctx, l.Name))
	for _, what := range []string{"pki", "etcd-pki", "kubeconfig", "etcd", "calico-etcd", "log", "lab.json", "machines", "apiserver", "controller-manager", "scheduler"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(stateDir, what)))
	}
	return errors.Join(err, os.MkdirAll(filepath.Join(stateDir, "log"), 0o755))
}
