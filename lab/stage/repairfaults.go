package stage

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// The faults here are small and quick: each makes one record of a running pod wrong, or
// creates one for a pod that never existed. Calico may write the same objects meanwhile.

// Release releases the address of a pod, as a late DEL does.
func (s *Stage) Release(ctx context.Context, pod lab.Pod) error {
	_, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP)
	return err
}

// LoseEndpoint releases the address of a pod and deletes its endpoint.
func (s *Stage) LoseEndpoint(ctx context.Context, pod lab.Pod) error {
	if err := s.Release(ctx, pod); err != nil {
		return err
	}
	ns, name := pod.Metadata.Namespace, pod.Metadata.Name
	if s.Datastore == lab.Etcd {
		var b bystander
		b.Metadata.Namespace, b.Metadata.Name, b.Spec.NodeName = ns, name, pod.Spec.NodeName
		_, err := s.Etcdctl(ctx, "root", "del", etcdWEPs+b.endpoint())
		return err
	}
	_, err := s.Kubectl(ctx, "-n", ns, "annotate", "pod", name, lab.AnnotationIP+"-", lab.AnnotationIP+"s-", lab.AnnotationContainer+"-")
	return err
}

// Misname writes another node's name into the pod's allocation.
func (s *Stage) Misname(ctx context.Context, pod lab.Pod, node string) error {
	owner, b, err := s.blockOf(ctx, pod.Status.PodIP)
	if err != nil {
		return err
	}
	return s.change(ctx, b, func(spec map[string]any) error {
		attrs, _ := spec["attributes"].([]any)
		for _, a := range attrs {
			m, _ := a.(map[string]any)
			second, _ := m["secondary"].(map[string]any)
			if m["handle_id"] == owner.Handle && second != nil {
				second["node"] = node
				return nil
			}
		}
		return fmt.Errorf("%s no longer allocates %s", owner.Handle, pod.Status.PodIP)
	})
}

// Miscount makes the pod's handle count more addresses than it holds.
func (s *Stage) Miscount(ctx context.Context, pod lab.Pod) error {
	owner, b, err := s.blockOf(ctx, pod.Status.PodIP)
	if err != nil {
		return err
	}
	return s.PutRaw(ctx, HandleObject(owner.Handle, b.CIDR, 3))
}

// Leak allocates an address of the same block to a pod that never existed; id is its
// container.
func (s *Stage) Leak(ctx context.Context, beside lab.Pod, id string) error {
	_, b, err := s.blockOf(ctx, beside.Status.PodIP)
	if err != nil {
		return err
	}
	handle := "k8s-pod-network." + id
	if err := s.PutRaw(ctx, HandleObject(handle, b.CIDR, 1)); err != nil {
		return err
	}
	return s.change(ctx, b, func(spec map[string]any) error {
		free, _ := spec["unallocated"].([]any)
		slots, _ := spec["allocations"].([]any)
		attrs, _ := spec["attributes"].([]any)
		if len(free) == 0 {
			return errors.New("the block is full")
		}
		var at int
		if _, err := fmt.Sscan(fmt.Sprint(free[0]), &at); err != nil || at < 0 || at >= len(slots) {
			return fmt.Errorf("block %s has no ordinal %v", b.CIDR, free[0])
		}
		slots[at] = len(attrs)
		spec["unallocated"], spec["allocations"] = free[1:], slots
		spec["attributes"] = append(attrs, map[string]any{"handle_id": handle, "secondary": map[string]any{
			"namespace": s.Namespace, "pod": "never-" + id[:6], "node": beside.Spec.NodeName, "timestamp": "2026-01-01 00:00:00 +0000 UTC",
		}})
		return nil
	})
}

// Orphan creates a handle without an address; id is its container.
func (s *Stage) Orphan(ctx context.Context, beside lab.Pod, id string) error {
	_, b, err := s.blockOf(ctx, beside.Status.PodIP)
	if err != nil {
		return err
	}
	return s.PutRaw(ctx, HandleObject("k8s-pod-network."+id, b.CIDR, 1))
}

func (s *Stage) blockOf(ctx context.Context, ip string) (Attribute, Block, error) {
	blocks, err := s.Blocks(ctx)
	if err != nil {
		return Attribute{}, Block{}, err
	}
	for _, b := range blocks {
		if a, ok := b.Owner(ip); ok {
			return a, b, nil
		}
	}
	return Attribute{}, Block{}, fmt.Errorf("no block allocates %s", ip)
}

// change edits a block directly in the datastore, but never overwrites what Calico has
// written meanwhile.
func (s *Stage) change(ctx context.Context, b Block, edit func(spec map[string]any) error) error {
	return lab.Eventually(ctx, 20*time.Second, func(ctx context.Context) error {
		if s.Datastore == lab.Etcd {
			return s.changeEtcd(ctx, b.Key, edit)
		}
		var wrong error // the object has its resourceVersion: a late write is refused
		err := s.EditBlock(ctx, b, func(spec map[string]any) { wrong = edit(spec) })
		return errors.Join(wrong, err)
	})
}

func (s *Stage) changeEtcd(ctx context.Context, key string, edit func(spec map[string]any) error) error {
	text, err := s.Etcdctl(ctx, "root", "get", "-w", "json", key)
	if err != nil {
		return err
	}
	var got struct {
		Kvs []struct {
			ModRevision json.Number `json:"mod_revision"`
			Value       string
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Kvs) != 1 {
		return fmt.Errorf("read %s: %d values, %w", key, len(got.Kvs), err)
	}
	raw, err := base64.StdEncoding.DecodeString(got.Kvs[0].Value)
	if err != nil {
		return err
	}
	spec, err := decode(raw)
	if err != nil {
		return err
	}
	if err := edit(spec); err != nil {
		return err
	}
	after, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	ca, crt, certKey := s.EtcdCerts("root")
	cmd := exec.CommandContext(ctx, s.Bin("etcd", "etcdctl"), "--endpoints="+s.EtcdEndpoint(), "--cacert="+ca, "--cert="+crt, "--key="+certKey, "txn")
	cmd.Env = os.Environ()
	cmd.Stdin = strings.NewReader(fmt.Sprintf("mod(%q) = \"%s\"\n\nput %s %q\n\n\n", key, got.Kvs[0].ModRevision, key, after))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("etcdctl txn: %w: %s", err, out)
	}
	return Expect(strings.HasPrefix(string(out), "SUCCESS"), "no other write to %s meanwhile, got %s", key, out)
}
