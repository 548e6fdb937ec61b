package detect

import (
	"net/netip"
	"slices"
	"sync/atomic"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A seat is a pod's place on its node: the sandbox that runs, and Calico's device in it.
type seat struct {
	pod     *model.Pod
	sandbox *model.Sandbox
	device  string            // what Calico's device is called inside
	inside  *model.Attachment // that device; nil if the namespace has none of that name
	around  *model.Attachment // some row of the namespace
	others  int               // devices inside, beside it, that are in use
	ips     []netip.Addr      // that the pod should have
	told    bool              // a book says so; else they are only what the device has
}

// What is read to find a pod's place on its node.
var (
	seatNeeds = []model.Table{
		model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Endpoints, model.Nodes, model.Hosts,
		model.Sandboxes, model.Attachments, model.CNIConfigs,
	}
	seatUses = []model.Table{model.CNIResults, model.Processes, model.Machines}
)

// seatOf finds a pod's place. It says no where there is nothing to judge: the pod has no
// network of its own or will soon have none, its sandbox does not run or is being worked
// on, or its network is not Calico's.
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

func findSeat(p *Pass, row int32) *seat {
	pod := p.Pod(row)
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
		return nil // its namespace was not found
	}
	if !s.told && s.inside != nil {
		for _, q := range s.inside.IPs {
			s.ips = append(s.ips, q.Addr())
		}
	}
	return s
}

// findAddresses learns which addresses the pod should have: by Calico's word, else by its
// status. It tells whether Calico said anything.
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

func (s *seat) look(devices func(func(*model.Attachment) bool)) {
	for a := range devices {
		s.around = a
		switch {
		case a.Device == s.device:
			s.inside = a
		case a.Device != "" && a.Up: // every namespace has a sleeping tunl0 where IPIP is loaded
			s.others++
		}
	}
}

// machine tells that the pod runs a machine, which may have taken over address and MAC.
func (s *seat) machine() bool { return s.pod.VM != "" }

// report hands in a finding about the pod on its node.
func (s *seat) report(p *Pass, f finding.Finding) {
	f.Subject, f.Namespace = s.pod.Ref(), s.pod.Namespace
	f.Evidence = append([]finding.Evidence{seatSays(s), sandboxSays(s.sandbox)}, f.Evidence...)
	for _, ip := range s.ips {
		f.About = append(f.About, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	reportKernel(p, s.pod.Node, f)
}
