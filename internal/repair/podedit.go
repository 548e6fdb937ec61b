package repair

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// readPod parses the body that a store returns for a pod.
func readPod(o model.Object) (model.PodBody, error) {
	var p model.PodBody
	if !o.There() {
		return p, nil
	}
	if err := json.Unmarshal(o.Body, &p); err != nil {
		return p, fmt.Errorf("%s: %w", o.Ref, err)
	}
	return p, nil
}

// editPod sets the annotations that Calico's CNI plugin sets after an ADD.
func (s *Step) editPod(sc Scene) (Edited, error) {
	a := s.Annotate
	p, err := readPod(sc.Live)
	if err != nil {
		return Edited{}, err
	}
	first, all := addressText(a.IPs)
	switch {
	case !sc.Live.There() || sc.Live.UID != a.UID:
		return Edited{}, moved("the pod is gone")
	case p.Deleted || p.Finished() || p.HostNetwork:
		return Edited{}, moved("the pod is being deleted or has finished, or uses the host network")
	case p.ContainerID == a.Container && p.PodIP == first && p.PodIPs == all:
		return Edited{}, ErrAlready
	case p.ContainerID != a.From && p.ContainerID != "" && p.ContainerID != a.Container:
		return Edited{}, moved("the annotation names sandbox %.8s now", p.ContainerID)
	}
	if a.Empty && p.ContainerID != a.Container {
		return Edited{}, ErrAlready // another writer replaced the annotation that the plan wrote
	}
	was := map[string]string{"podIP": p.PodIP, "podIPs": p.PodIPs, "containerID": p.ContainerID}
	p.PodIP, p.PodIPs, p.ContainerID, p.Annotated = first, all, a.Container, true
	o, err := onto(sc.Live, p)
	if err != nil {
		return Edited{}, err
	}
	return s.complete(sc, o, was, map[string]string{"podIP": first, "podIPs": all, "containerID": a.Container})
}

// addressText formats addresses as Calico does in annotations.
func addressText(ips []netip.Prefix) (first, all string) {
	var texts []string
	for _, ip := range ips {
		texts = append(texts, ip.String())
	}
	if len(texts) > 0 {
		first = texts[0]
	}
	return first, strings.Join(texts, ",")
}

// evictPod evicts a pod. Condition: for each of Keeps, IPAM already has the address for the handle that keeps it.
func (s *Step) evictPod(sc Scene) (Edited, error) {
	if !sc.Live.There() || sc.Live.UID != s.Evict.UID {
		return Edited{}, ErrAlready
	}
	for _, k := range s.Evict.Keeps {
		o := sc.Also[model.Ref{Kind: model.KindBlock, Name: k.Block.String()}]
		if !o.There() {
			return Edited{}, moved("the block of %s is gone", k.IP)
		}
		b, err := readBlock(o)
		if err != nil {
			return Edited{}, err
		}
		if n := b.ordinal(k.IP); n < 0 || !b.heldBy(n, k.Handle) {
			return Edited{}, moved("IPAM does not have %s for the pod that keeps it", k.IP)
		}
	}
	e, err := s.complete(sc, sc.Live, nil, "evicted")
	e.Delete = true
	return e, err
}

// restartPod deletes a pod of Calico; its controller creates it again.
func (s *Step) restartPod(sc Scene) (Edited, error) {
	if !sc.Live.There() || sc.Live.UID != s.Restart.UID {
		return Edited{}, ErrAlready
	}
	e, err := s.complete(sc, sc.Live, nil, "restarted")
	e.Delete = true
	return e, err
}

// claims gives those of the addresses that are in the status or annotations of a pod.
func claims(p *model.PodBody, ips []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, ip := range ips {
		text := netip.PrefixFrom(ip, ip.BitLen()).String()
		if slices.Contains(p.IPs, ip) || slices.Contains(strings.Split(p.PodIPs, ","), text) || p.PodIP == text {
			out = append(out, ip)
		}
	}
	return out
}
