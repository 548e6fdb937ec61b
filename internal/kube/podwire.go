package kube

import (
	"net/netip"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/internal/model"
)

// Annotations and labels that matter to us.
const (
	podIP       = "cni.projectcalico.org/podIP"
	podIPs      = "cni.projectcalico.org/podIPs"
	containerID = "cni.projectcalico.org/containerID"
	noIPAM      = "cni.projectcalico.org/ipAddrsNoIpam"
	mirror      = "kubernetes.io/config.mirror"
	vmLabel     = "vm.kubevirt.io/name"
)

// A podPicker takes from a pod in wire format what we keep of it, and nothing else:
// field numbers are those of k8s.io/api, and a test holds us against it.
type podPicker struct {
	intern model.Interner
	notes  map[string]string
}

func (k *podPicker) pick(b []byte) (model.Pod, error) {
	var p model.Pod
	var spec []byte
	k.notes = map[string]string{}
	var bad error
	keep := func(err error) {
		if bad == nil {
			bad = err
		}
	}
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case 1:
			keep(k.meta(v, &p))
		case 2:
			spec = v
		case 3:
			keep(k.status(v, &p))
		}
	})
	keep(err)
	keep(k.spec(spec, &p)) // after the metadata: a claim is named with the pod's namespace
	annotate(&p, k.notes)
	return p, bad
}

func (k *podPicker) meta(b []byte, p *model.Pod) error {
	var bad error
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case 1:
			p.Name = string(v)
		case 3:
			p.Namespace = k.intern.Of(string(v))
		case 5:
			p.UID = string(v)
		case 6:
			p.Revision = string(v)
		case 8:
			p.Created = seconds(v)
			p.Written = max(p.Written, p.Created)
		case 9:
			p.Deleted = seconds(v)
		case 11, 12:
			key, value := pair(v)
			switch string(key) {
			case podIP, podIPs, containerID, noIPAM, mirror, vmLabel:
				k.notes[string(key)] = string(value)
			}
		case 13:
			p.Owner = k.owner(v, p.Owner)
		case 14:
			p.Finalizers = k.some(p.Finalizers, string(v), maxFinalizers)
		case 17:
			if err := fields(v, func(num protowire.Number, v []byte, _ uint64) {
				if num == 4 {
					p.Written = max(p.Written, seconds(v))
				}
			}); err != nil {
				bad = err
			}
		}
	})
	if err != nil {
		return err
	}
	return bad
}

// owner is the controller among the owner references.
func (k *podPicker) owner(b []byte, before string) string {
	var kind, name string
	var controller uint64
	_ = fields(b, func(num protowire.Number, v []byte, n uint64) {
		switch int(num) {
		case 1:
			kind = string(v)
		case 3:
			name = string(v)
		case 6:
			controller = n
		}
	})
	if controller == 0 {
		return before
	}
	return k.intern.Of(kind + "/" + name)
}

func (k *podPicker) spec(b []byte, p *model.Pod) error {
	return fields(b, func(num protowire.Number, v []byte, n uint64) {
		switch int(num) {
		case 1:
			p.Volumes = k.some(p.Volumes, volume(v, p), maxVolumes)
		case 2:
			p.Images = k.some(p.Images, first(v, 2), maxImages)
		case 10:
			p.Node = k.intern.Of(string(v))
		case 11:
			p.HostNetwork = n != 0
		}
	})
}

// How much of a list is kept, however long somebody made it.
const (
	maxVolumes    = 16
	maxImages     = 8
	maxFinalizers = 16
)

// some adds what is new to a short list of strings that other pods have too.
func (k *podPicker) some(list []string, s string, most int) []string {
	if s == "" || len(list) >= most || slices.Contains(list, s) {
		return list
	}
	return append(list, k.intern.Of(s))
}

func (k *podPicker) status(b []byte, p *model.Pod) error {
	var single string
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case 1:
			p.Phase = model.Phase(k.intern.Of(string(v)))
		case 2:
			if typ, status := condition(v); typ == "Ready" {
				p.Ready = status == "True"
			}
		case 6:
			single = string(v)
		case 7:
			p.Started = seconds(v)
		case 12:
			_ = fields(v, func(num protowire.Number, v []byte, _ uint64) {
				if a, err := netip.ParseAddr(string(v)); num == 1 && err == nil {
					p.IPs = append(p.IPs, a.Unmap())
				}
			})
		}
	})
	if a, bad := netip.ParseAddr(single); bad == nil && len(p.IPs) == 0 {
		p.IPs = []netip.Addr{a.Unmap()}
	}
	return err
}

func condition(b []byte) (typ, status string) {
	_ = fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case 1:
			typ = string(v)
		case 2:
			status = string(v)
		}
	})
	return typ, status
}

func pair(b []byte) (key, value []byte) {
	_ = fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case 1:
			key = v
		case 2:
			value = v
		}
	})
	return key, value
}

func seconds(b []byte) model.Time {
	var s model.Time
	_ = fields(b, func(num protowire.Number, _ []byte, n uint64) {
		if num == 1 {
			s = model.Time(n)
		}
	})
	return s
}

// annotate reads what Calico has written on the pod. podIPs says all, podIP the first.
func annotate(p *model.Pod, notes map[string]string) {
	text, all := notes[podIPs]
	if !all {
		var one bool
		if text, one = notes[podIP]; !one {
			p.Annotation = model.Absent
			text = ""
		} else {
			all = true
		}
	}
	if all {
		p.Annotated, p.Annotation = addresses(text)
	}
	p.ContainerID = notes[containerID]
	p.VM = notes[vmLabel]
	_, p.NoIPAM = notes[noIPAM]
	p.Static = notes[mirror]
}

func addresses(text string) ([]netip.Addr, model.Annotation) {
	if strings.TrimSpace(text) == "" {
		return nil, model.Emptied
	}
	var out []netip.Addr
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		a, err := netip.ParseAddr(part)
		if pre, perr := netip.ParsePrefix(part); perr == nil {
			a, err = pre.Addr(), nil
		}
		if err != nil || len(out) > 16 {
			return nil, model.Garbled
		}
		if a = a.Unmap(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out, model.Written
}
