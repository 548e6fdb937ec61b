package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

// EtcdStore changes blocks, handles, affinities and endpoints in etcd. The UID of a key is
// its create revision: a key that was deleted and created again is another object. It has
// no labels: what Calico selects by is in the key.
type EtcdStore struct {
	DryRun bool // everything is compared and nothing written

	etcd *Etcd
}

var _ execute.Store = (*EtcdStore)(nil)

// Store returns what writes single keys.
func (e *Etcd) Store() *EtcdStore { return &EtcdStore{etcd: e} }

// errNoJSON means that a value is not Calico's.
var errNoJSON = errors.New("its value is not JSON")

// Get reads a key through the quorum, at the current revision.
func (s *EtcdStore) Get(ctx context.Context, r model.Ref) (model.Object, error) {
	key, err := s.key(r)
	if err != nil {
		return model.Object{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.etcd.timeout)
	defer cancel()
	resp, err := s.etcd.kv.Get(ctx, key)
	if err != nil {
		return model.Object{}, fmt.Errorf("read %s: %w", r, err)
	}
	o := model.Object{Ref: r}
	if len(resp.Kvs) == 0 {
		return o, nil
	}
	kv := resp.Kvs[0]
	o.UID, o.Revision, o.Body = strconv.FormatInt(kv.CreateRevision, 10), strconv.FormatInt(kv.ModRevision, 10), kv.Value
	if len(o.Body) == 0 && r.Kind == model.KindAffinity {
		o.Body = json.RawMessage("{}") // a confirmed affinity of an old version
	}
	if !json.Valid(o.Body) {
		return model.Object{}, fmt.Errorf("read %s: %w", r, errNoJSON)
	}
	return o, nil
}

// Put writes o if the key still has o.UID and o.Revision; without a revision it creates it.
// A dry run returns o.
func (s *EtcdStore) Put(ctx context.Context, o model.Object) (model.Object, error) {
	key, err := s.key(o.Ref)
	if err != nil {
		return model.Object{}, err
	}
	if !fits(o.Ref, o.Body) {
		return model.Object{}, fmt.Errorf("write %s: its body belongs to another object: %w", o.Ref, execute.ErrRefused)
	}
	still := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)}
	if o.There() {
		if still, err = unchanged(key, &o); err != nil {
			return model.Object{}, fmt.Errorf("write %s: %w", o.Ref, err)
		}
	}
	rev, err := s.commit(ctx, still, clientv3.OpPut(key, string(o.Body)))
	if err != nil {
		return model.Object{}, fmt.Errorf("write %s: %w", o.Ref, err)
	}
	if s.DryRun {
		return o, nil
	}
	if !o.There() {
		o.UID = rev
	}
	o.Revision = rev
	return o, nil
}

// Delete deletes the key if it still has o.UID and o.Revision.
func (s *EtcdStore) Delete(ctx context.Context, o model.Object) error {
	key, err := s.key(o.Ref)
	if err != nil {
		return err
	}
	still, err := unchanged(key, &o)
	if err == nil {
		_, err = s.commit(ctx, still, clientv3.OpDelete(key))
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", o.Ref, err)
	}
	return nil
}

// commit applies the operation if all comparisons hold, and returns its revision.
func (s *EtcdStore) commit(ctx context.Context, still []clientv3.Cmp, do clientv3.Op) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.etcd.timeout)
	defer cancel()
	if s.DryRun {
		do = clientv3.OpGet(string(do.KeyBytes())) // without any operation the quorum would not be asked
	}
	resp, err := s.etcd.kv.Txn(ctx).If(still...).Then(do).Commit()
	if err != nil {
		return "", refusedByEtcd(err)
	}
	if !resp.Succeeded {
		return "", execute.ErrStale
	}
	return strconv.FormatInt(resp.Header.Revision, 10), nil
}

// unchanged compares a key with what was read. etcd uses revision 0 for a missing key: no
// object has it.
func unchanged(key string, o *model.Object) ([]clientv3.Cmp, error) {
	made, err := strconv.ParseInt(o.UID, 10, 64)
	if err != nil || made <= 0 {
		return nil, fmt.Errorf("no key has UID %q: %w", o.UID, execute.ErrStale)
	}
	rev, err := strconv.ParseInt(o.Revision, 10, 64)
	if err != nil || rev <= 0 {
		return nil, fmt.Errorf("no key has revision %q: %w", o.Revision, execute.ErrStale)
	}
	return []clientv3.Cmp{
		clientv3.Compare(clientv3.CreateRevision(key), "=", made),
		clientv3.Compare(clientv3.ModRevision(key), "=", rev),
	}, nil
}

// refusedByEtcd lists the errors before anything is written. No space is not among them:
// etcd reports it after the write that took the last space.
func refusedByEtcd(err error) error {
	for _, no := range []error{rpctypes.ErrPermissionDenied, rpctypes.ErrPermissionNotGranted, rpctypes.ErrInvalidAuthToken, rpctypes.ErrUserEmpty, rpctypes.ErrRequestTooLarge} {
		if errors.Is(err, no) {
			return fmt.Errorf("%w: %w", execute.ErrRefused, err)
		}
	}
	return err
}

func (s *EtcdStore) key(r model.Ref) (string, error) {
	if err := exact(r); err != nil {
		return "", err
	}
	key, _ := s.etcd.keyOf(r, &model.Snapshot{})
	return key, nil
}

// fits: a block's value identifies it, of the others only the key does.
func fits(r model.Ref, value []byte) bool {
	if r.Kind == model.KindBlock {
		return isOf(r, value)
	}
	var fields map[string]json.RawMessage
	return json.Unmarshal(value, &fields) == nil && fields != nil
}
