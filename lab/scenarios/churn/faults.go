package churn

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// A Fault is what Break created, as check names it.
type Fault struct {
	Name    string
	Begun   time.Time // before it was created
	At      time.Time // when it existed
	Settles time.Duration
}

const quietPool = "quiet"

// Quiet creates eight pods in a pool of their own, whose released addresses no other pod gets.
func Quiet(ctx context.Context, s *stage.Stage) (pods []lab.Pod, err error) {
	// Calico's own IPAM garbage collector would release the leaks before they can be confirmed.
	err = lab.Eventually(ctx, time.Minute, func(context.Context) error {
		_, err := s.Calicoctl(ctx, "patch", "kubecontrollersconfiguration", "default", "-p", `{"spec":{"controllers":{"node":{"leakGracePeriod":"0s"}}}}`)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.Pool(ctx, quietPool, "10.251.0.0/24", 28); err != nil {
		return nil, err
	}
	for i := range 8 {
		p, err := s.Run(ctx, stage.PodSpec{Name: fmt.Sprintf("quiet-%d", i), Node: fmt.Sprintf("node%d", 1+i%3), Annotations: stage.FromPool(quietPool)})
		if err != nil {
			return nil, err
		}
		pods = append(pods, p)
	}
	return pods, nil
}

const (
	transient = 2 * time.Minute
	slow      = 6 * time.Minute
)

// Break creates 25 faults of five kinds, eight of them about the quiet pods.
func Break(ctx context.Context, s *stage.Stage, quiet []lab.Pod) (all []Fault, err error) {
	add := func(begun time.Time, name string, settles time.Duration) {
		all = append(all, Fault{name, begun, time.Now(), settles})
	}
	const cidr = "10.244.250.0/26"
	begun := time.Now()
	id := func(i int) string { return fmt.Sprintf("k8s-pod-network.%064x", 0xabc000+i) }
	attributes, held := make([]string, 5), make([]string, 64)
	for i := range held {
		held[i] = "null"
	}
	for i := range attributes {
		if err := s.PutRaw(ctx, stage.HandleObject(id(i), cidr, 1)); err != nil {
			return nil, err
		}
		attributes[i] = fmt.Sprintf(`{"handle_id": %q, "secondary": {"namespace": "churn", "pod": "never-%d", "node": "node1"}}`, id(i), i)
		held[i] = fmt.Sprint(i)
	}
	free := make([]string, 0, 59)
	for i := 5; i < 64; i++ {
		free = append(free, fmt.Sprint(i))
	}
	block := s.BlockObject("10.244.250.0", 26, "["+strings.Join(held, ",")+"]", "["+strings.Join(free, ",")+"]", "["+strings.Join(attributes, ",")+"]")
	if err := s.PutRaw(ctx, block); err != nil {
		return nil, err
	}
	for i := range 5 {
		add(begun, fmt.Sprintf("PL1001/10.244.250.%d", i), slow)
	}
	for i := range 8 {
		begun = time.Now()
		if err := s.PutRaw(ctx, stage.HandleObject(id(100+i), cidr, 1)); err != nil {
			return nil, err
		}
		add(begun, "PL1006/"+id(100+i), transient)
	}
	for i := range 4 {
		begun = time.Now()
		if err := s.PutRaw(ctx, s.AffinityObject(fmt.Sprintf("gone%d", i), fmt.Sprintf("10.244.251.%d", 64*i), 26)); err != nil {
			return nil, err
		}
		add(begun, fmt.Sprintf("PL1007/gone%d/10.244.251.%d/26", i, 64*i), slow)
	}
	for _, p := range quiet[:4] {
		begun = time.Now()
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+p.Status.PodIP); err != nil {
			return nil, err
		}
		add(begun, "PL1002/"+p.Status.PodIP, transient)
	}
	for _, p := range quiet[4:] {
		begun = time.Now()
		if s.Datastore == lab.KDD {
			_, err = s.Kubectl(ctx, "-n", s.Namespace, "annotate", "--overwrite", "pod", p.Metadata.Name, "cni.projectcalico.org/podIP=", "cni.projectcalico.org/podIPs=")
		} else {
			wep := p.Spec.NodeName + "-k8s-" + strings.ReplaceAll(p.Metadata.Name, "-", "--") + "-eth0"
			_, err = s.Calicoctl(ctx, "delete", "workloadendpoint", wep, "-n", s.Namespace)
		}
		if err != nil {
			return nil, err
		}
		add(begun, "PL2001/"+s.Namespace+"/"+p.Metadata.Name, slow)
	}
	return all, nil
}
