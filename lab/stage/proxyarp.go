package stage

import (
	"context"

	"plumbline.dev/plumbline/lab"
)

// WithoutProxyARP runs a pod on node1 and switches proxy_arp off on its host interface.
//
// Felix writes proxy_arp once, when it first configures the interface, and that may be after
// the pod is ready. Only then does it let the pod's packets through: the pod reaches another
// one first.
func (s *Stage) WithoutProxyARP(ctx context.Context, name string) (lab.Pod, error) {
	peer, err := s.Run(ctx, PodSpec{Name: name + "-peer", Node: "node1"})
	if err != nil {
		return lab.Pod{}, err
	}
	pod, err := s.Run(ctx, PodSpec{Name: name, Node: "node1"})
	if err != nil {
		return lab.Pod{}, err
	}
	if err := s.Reaches(ctx, name, peer.Status.PodIP, name+"-peer"); err != nil {
		return lab.Pod{}, err
	}
	n, err := s.Node(ctx, 1)
	if err != nil {
		return lab.Pod{}, err
	}
	_, err = n.Exec(ctx, "sysctl", "-qw", "net.ipv4.conf."+Device(s.Namespace, name)+".proxy_arp=0")
	return pod, err
}
