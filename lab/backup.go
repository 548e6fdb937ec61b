package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The datastores that can be backed up, by the name of their process.
const (
	KubernetesStore = "etcd"
	CalicoStore     = "calico-etcd" // in etcd mode
)

// BackUp saves a datastore as people do, and returns the file.
func (l *Lab) BackUp(ctx context.Context, store, dir string) (string, error) {
	file := filepath.Join(dir, fmt.Sprintf("%s-%d.db", store, time.Now().UnixNano()))
	var err error
	if store == CalicoStore {
		_, err = l.Etcdctl(ctx, "root", "snapshot", "save", file)
	} else {
		_, err = l.run(ctx, "", l.Bin("etcd", "etcdctl"), "--endpoints="+l.KubernetesEtcd(), "snapshot", "save", file)
	}
	return file, err
}

// Restore sets a datastore back to a backup, as etcd's documentation describes it: whoever uses it is stopped first. With
// bump its revisions go on far above those that it had, so that watches notice.
func (l *Lab) Restore(ctx context.Context, store, file string, bump bool) error {
	name, peer, users := "kubernetes", "http://127.0.0.1:2380", []string{"kube-controller-manager", "kube-scheduler", "kube-apiserver"}
	if store == CalicoStore {
		name, peer, users = "calico", "http://127.0.0.1:12380", nil
	}
	all := slices.Concat(users, []string{store})
	for _, part := range all {
		if err := l.sup.Stop(ctx, part, 10*time.Second); err != nil {
			return err
		}
	}
	dir := filepath.Join(stateDir, store)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	args := []string{"snapshot", "restore", file, "--data-dir=" + dir, "--name=" + name, "--initial-cluster=" + name + "=" + peer, "--initial-advertise-peer-urls=" + peer}
	if bump {
		args = append(args, "--bump-revision=1000000000", "--mark-compacted")
	}
	if _, err := l.run(ctx, "", l.Bin("etcd", "etcdutl"), args...); err != nil {
		return err
	}
	for i := range all {
		if err := l.sup.Again(ctx, all[len(all)-1-i]); err != nil {
			return err
		}
	}
	return l.await(ctx, store, func(ctx context.Context) error {
		_, err := l.Kubectl(ctx, "get", "--raw", "/readyz")
		return err
	})
}
