package kube

import (
	"net/netip"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/internal/model"
)

// The annotations of a pod that are read, and those of Calico that repairs write.
const (
	AnnotationPodIP       = "cni.projectcalico.org/podIP"
	AnnotationPodIPs      = "cni.projectcalico.org/podIPs"
	AnnotationContainerID = "cni.projectcalico.org/containerID"
	noIPAM                = "cni.projectcalico.org/ipAddrsNoIpam"
	AnnotationMirror      = "kubernetes.io/config.mirror"
	vmLabel               = "vm.kubevirt.io/name"
)

// A podPicker takes from a pod in protobuf the fields that we keep, and nothing else: field
// numbers are those of k8s.io/api, and a test compares with it.
type podPicker struct {
	intern model.Interner
	keep   *podArena // for callers that pick many; nil allocates each part
	notes  [len(noted)]note
	lists  struct{ volumes, images, finalizers []string } // of the pod at hand
}

// A podArena keeps the parts of many pods close together in memory.
type podArena struct {
	text  model.Text
	addrs model.Slab[netip.Addr]
	lists model.Slab[string]
}

// noted are the annotations and labels that we keep.
var noted = [...]string{AnnotationPodIP, AnnotationPodIPs, AnnotationContainerID, noIPAM, AnnotationMirror, vmLabel}

// A note is one of them, if it exists.
type note struct {
	value []byte
	there bool
}

func (k *podPicker) pick(b []byte) (model.Pod, error) {
	var p model.Pod
	var spec []byte
	clear(k.notes[:])
	l := &k.lists
	l.volumes, l.images, l.finalizers = l.volumes[:0], l.images[:0], l.finalizers[:0]
	var bad error
	keep := func(err error) {
		if bad == nil {
			bad = err
		}
	}
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case objectFieldMetadata:
			keep(k.meta(v, &p))
		case objectFieldSpec:
			spec = v
		case objectFieldStatus:
			keep(k.status(v, &p))
		}
	})
	keep(err)
	for _, dir := range copiesOf(spec) {
		l.volumes = k.some(l.volumes, model.RuntimeDir+dir, maxVolumes)
	}
	keep(k.spec(spec, &p)) // after the metadata: a claim needs the pod's namespace
	p.Volumes, p.Images, p.Finalizers = k.list(l.volumes), k.list(l.images), k.list(l.finalizers)
	k.annotate(&p)
	return p, bad
}

// own keeps a text that no other pod has.
func (k *podPicker) own(b []byte) string {
	if k.keep == nil {
		return string(b)
	}
	return k.keep.text.Of(b)
}

func (k *podPicker) list(l []string) []string {
	switch {
	case len(l) == 0:
		return nil
	case k.keep == nil:
		return slices.Clone(l)
	default:
		return k.keep.lists.Of(l)
	}
}

func (k *podPicker) addrs(a []netip.Addr) []netip.Addr {
	switch {
	case len(a) == 0:
		return nil
	case k.keep == nil:
		return slices.Clone(a)
	default:
		return k.keep.addrs.Of(a)
	}
}

func (k *podPicker) meta(b []byte, p *model.Pod) error {
	var bad error
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case metaFieldName:
			p.Name = k.own(v)
		case metaFieldNamespace:
			p.Namespace = k.intern.Bytes(v)
		case metaFieldUID:
			p.UID = k.own(v)
		case metaFieldResourceVersion:
			p.Revision = k.own(v)
		case metaFieldCreationTimestamp:
			p.Created = seconds(v)
			p.Written = max(p.Written, p.Created)
		case metaFieldDeletionTimestamp:
			p.Deleted = seconds(v)
		case metaFieldLabels, metaFieldAnnotations:
			key, value := pair(v)
			if i := slices.Index(noted[:], string(key)); i >= 0 {
				k.notes[i] = note{value, true}
			}
		case metaFieldOwnerReferences:
			p.Owner = k.owner(v, p.Owner)
		case metaFieldFinalizers:
			k.lists.finalizers = k.some(k.lists.finalizers, string(v), maxFinalizers)
		case metaFieldManagedFields:
			if err := fields(v, func(num protowire.Number, v []byte, _ uint64) {
				if num == managedFieldsFieldTime {
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
	var kind, name []byte
	var controller uint64
	_ = fields(b, func(num protowire.Number, v []byte, n uint64) {
		switch int(num) {
		case ownerFieldKind:
			kind = v
		case ownerFieldName:
			name = v
		case ownerFieldController:
			controller = n
		}
	})
	if controller == 0 {
		return before
	}
	var short [128]byte
	return k.intern.Bytes(append(append(append(short[:0], kind...), '/'), name...))
}

func (k *podPicker) spec(b []byte, p *model.Pod) error {
	return fields(b, func(num protowire.Number, v []byte, n uint64) {
		switch int(num) {
		case podSpecFieldVolumes:
			k.lists.volumes = k.some(k.lists.volumes, volume(v, p), maxVolumes)
		case podSpecFieldContainers:
			k.lists.images = k.some(k.lists.images, first(v, containerFieldImage), maxImages)
		case podSpecFieldNodeName:
			p.Node = k.intern.Bytes(v)
		case podSpecFieldHostNetwork:
			p.HostNetwork = n != 0
		}
	})
}

// How much of a list is kept, however long it is.
const (
	maxVolumes    = 16
	maxImages     = 8
	maxFinalizers = 16
)

// some adds new elements to a short list of strings that other pods share.
func (k *podPicker) some(list []string, s string, most int) []string {
	if s == "" || len(list) >= most || slices.Contains(list, s) {
		return list
	}
	return append(list, k.intern.Of(s))
}

func (k *podPicker) status(b []byte, p *model.Pod) error {
	var single []byte
	var few [2]netip.Addr
	ips := few[:0]
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case podStatusFieldPhase:
			p.Phase = model.Phase(k.intern.Bytes(v))
		case podStatusFieldConditions:
			if typ, status := condition(v); string(typ) == "Ready" {
				p.Ready = string(status) == "True"
			}
		case podStatusFieldPodIP:
			single = v
		case podStatusFieldStartTime:
			p.Started = seconds(v)
		case podStatusFieldPodIPs:
			_ = fields(v, func(num protowire.Number, v []byte, _ uint64) {
				if a, err := netip.ParseAddr(string(v)); num == podIPFieldIP && err == nil {
					ips = append(ips, a.Unmap())
				}
			})
		}
	})
	if len(ips) == 0 && len(single) > 0 {
		if a, err := netip.ParseAddr(string(single)); err == nil {
			ips = append(ips, a.Unmap())
		}
	}
	p.IPs = k.addrs(ips)
	return err
}

// pair returns an entry of labels or annotations.
func pair(b []byte) (key, value []byte) { return two(b, mapFieldKey, mapFieldValue) }

// condition returns a condition's type and status.
func condition(b []byte) (typ, status []byte) {
	return two(b, conditionFieldType, conditionFieldStatus)
}

// two returns two fields of a message.
func two(b []byte, one, other protowire.Number) (x, y []byte) {
	_ = fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch num {
		case one:
			x = v
		case other:
			y = v
		default:
		}
	})
	return x, y
}

func seconds(b []byte) model.Time {
	var s model.Time
	_ = fields(b, func(num protowire.Number, _ []byte, n uint64) {
		if num == timeFieldSeconds {
			s = model.Time(n)
		}
	})
	return s
}

// annotate reads Calico's annotations of the pod. podIPs has all addresses, podIP the
// first.
func (k *podPicker) annotate(p *model.Pod) {
	note := func(name string) note { return k.notes[slices.Index(noted[:], name)] }
	where := note(AnnotationPodIPs)
	if !where.there {
		where = note(AnnotationPodIP)
	}
	if where.there {
		var annotated []netip.Addr
		annotated, p.Annotation = addresses(string(where.value))
		if slices.Equal(annotated, p.IPs) {
			p.Annotated = p.IPs // equal for nearly all pods: share one copy
		} else {
			p.Annotated = k.addrs(annotated)
		}
	}
	p.ContainerID, p.VM, p.Static = k.own(note(AnnotationContainerID).value), k.own(note(vmLabel).value), k.own(note(AnnotationMirror).value)
	p.NoIPAM = note(noIPAM).there
}

func addresses(text string) ([]netip.Addr, model.Annotation) {
	if strings.TrimSpace(text) == "" {
		return nil, model.Emptied
	}
	var out []netip.Addr
	for part := range strings.SplitSeq(text, ",") {
		a, err := address(strings.TrimSpace(part))
		if err != nil || len(out) > 16 {
			return nil, model.Garbled
		}
		if a = a.Unmap(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out, model.Written
}

// address reads an address, with or without a prefix length.
func address(s string) (netip.Addr, error) {
	if strings.Contains(s, "/") {
		if p, err := netip.ParsePrefix(s); err == nil {
			return p.Addr(), nil
		}
	}
	return netip.ParseAddr(s)
}
