package detect

import (
	"net/netip"
	"slices"
	"sync/atomic"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A seat is a running pod on its node: its running sandbox, and Calico's interface in it.
// Invariants: sandbox is ready and on pod.Node; around is not nil; inside is nil or an
// interface of the same namespace as around.
type seat struct {
	pod     *model.Pod
	sandbox *model.Sandbox
	device  string            // name of Calico's interface in the pod
	inside  *model.Attachment // that interface; nil if the namespace has none of that name
	around  *model.Attachment // any row of the pod's namespace
	others  int               // number of other interfaces in the namespace that are up
	ips     []netip.Addr      // addresses that the pod should have
	told    bool              // ips come from Kubernetes or Calico; else from the interface itself
}

// Tables that seatOf reads.
var (
	seatNeeds = []model.Table{
		model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Endpoints, model.Nodes, model.Hosts,
		model.Sandboxes, model.Attachments, model.CNIConfigs, model.Processes,
	}
	seatUses = []model.Table{model.CNIResults, model.Machines}
)

// seatOf finds the pod's sandbox and interface. It returns false if there is nothing to
// check: the pod uses the host network, is finished or being deleted, its sandbox is not
// running or a CNI call for it is in progress, or its network is not Calico's.
func seatOf(p *Pass, row int32) (*seat, bool) {
	s := p.seats[row].Load()
	if s == nil {
		if s = findSeat(p, row); s == nil {
			s = noSeat
		}
		p.seats[row].Store(s)
	}
	return s, s != noSeat
}

// A seatCache holds the seats that were found, by row of the pod, for all detectors of one
// run: six of them ask for the seat of every pod. A seat is never changed once it is in.
type seatCache []atomic.Pointer[seat]

var noSeat = new(seat)

func findSeat(p *Pass, row int32) *seat { return seatOfPod(p, p.Pod(row)) }

// seatOfPod is findSeat for a pod whose row is not known.
func seatOfPod(p *Pass, pod *model.Pod) *seat {
	if pod.HostNetwork || !pod.Deleted.IsZero() || pod.Phase != model.Running && pod.Phase != model.Pending {
		return nil
	}
	if p.CNISetupOn(pod.Node).Calicos == nil {
		return nil
	}
	box, _ := running(p, pod)
	if box == nil || called(p, box.Node, box.ID) {
		return nil
	}
	s := &seat{pod: pod, sandbox: box}
	device, foreign := p.DeviceOf(box.Node, box.ID)
	s.device = device
	byCalico := s.findAddresses(p)
	if foreign && !byCalico {
		return nil
	}
	s.look(p.AttachmentsOf(box.Node, box.ID))
	if s.around == nil && s.sandbox.Inode != 0 {
		s.look(p.AttachmentsIn(pod.Node, s.sandbox.Inode))
	}
	if s.around == nil {
		return nil // its network namespace was not found
	}
	s.adoptAddresses()
	return s
}

// adoptAddresses takes the interface's own addresses if neither Calico nor Kubernetes has any.
func (s *seat) adoptAddresses() {
	if s.told || s.inside == nil {
		return
	}
	for _, q := range s.inside.IPs {
		s.ips = append(s.ips, q.Addr())
	}
}

// findAddresses sets the addresses that the pod should have: from Calico's record, else from
// its status. It reports whether they come from Calico's record.
func (s *seat) findAddresses(p *Pass) (byCalico bool) {
	s.ips = s.pod.Annotated
	if p.Calico.Etcd {
		s.ips = nil
		for e := range p.EndpointsOf(s.pod.Namespace, s.pod.Name) {
			if p.SameNode(e.Node, s.pod.Node) && (e.Interface == "" || e.Interface == s.device) {
				s.ips = append(s.ips, e.IPs...)
			}
		}
	}
	byCalico = len(s.ips) > 0
	if !byCalico {
		s.ips = slices.Clone(s.pod.IPs)
	}
	s.told = len(s.ips) > 0
	return byCalico
}

// look sets inside, around and others from the rows of the pod's namespace.
func (s *seat) look(devices func(func(*model.Attachment) bool)) {
	for a := range devices {
		s.around = a
		switch {
		case a.Device == s.device:
			s.inside = a
		case a.Device != "" && a.Up: // every namespace has a tunl0 that is down if the IPIP module is loaded
			s.others++
		}
	}
}

// machine reports whether the pod runs a KubeVirt VM, which may have taken over address and MAC.
func (s *seat) machine() bool { return s.pod.VM != "" }

// report adds a finding about the pod, with pod, sandbox and Felix as evidence.
func (s *seat) report(p *Pass, f finding.Finding) {
	f.Subject, f.Namespace = s.pod.Ref(), s.pod.Namespace
	f.Evidence = append([]finding.Evidence{seatSays(s), sandboxSays(s.sandbox)}, f.Evidence...)
	for _, ip := range s.ips {
		f.About = append(f.About, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	reportKernel(p, s.pod.Node, f)
}
