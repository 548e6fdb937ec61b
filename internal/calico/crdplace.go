package calico

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// A place is where Calico stores an object among the custom resources.
type place struct{ resource, kind, name string }

// placeOf returns where Calico itself would create the object.
func placeOf(r model.Ref) (place, error) {
	if err := exact(r); err != nil {
		return place{}, err
	}
	switch r.Kind {
	case model.KindBlock:
		return place{"ipamblocks", "IPAMBlock", model.BlockName(netip.MustParsePrefix(r.Name))}, nil
	case model.KindHandle:
		return place{"ipamhandles", "IPAMHandle", model.HandleKey(r.Name)}, nil
	case model.KindAffinity:
		node, cidr := nodeAndRange(r)
		return place{"blockaffinities", "BlockAffinity", affinityName(node, cidr)}, nil
	default:
		return place{}, fmt.Errorf("%s: not stored in custom resources: %w", r, execute.ErrRefused)
	}
}

// exact refuses a ref that could name several objects or none: what is read by it would be
// written by it.
func exact(r model.Ref) error {
	ok := false
	switch r.Kind {
	case model.KindBlock:
		ok = masked(r.Name)
	case model.KindHandle:
		// Both datastores keep all handles in one place: a slash would lead out of it.
		ok = r.Name != "" && r.Name != "." && r.Name != ".." && !strings.Contains(r.Name, "/")
	case model.KindAffinity:
		node, cidr, _ := strings.Cut(r.Name, "/")
		ok = node != "" && masked(cidr)
	case model.KindEndpoint:
		ns, name, _ := strings.Cut(r.Name, "/")
		ok = ns != "" && name != "" && !strings.Contains(name, "/")
	default:
	}
	if !ok {
		return fmt.Errorf("%s: not a valid name of a Calico object: %w", r, execute.ErrRefused)
	}
	return nil
}

// masked reports whether a CIDR is spelled as Calico spells it: no host bits, no IPv4 in
// IPv6.
func masked(cidr string) bool {
	p, err := netip.ParsePrefix(cidr)
	return err == nil && p.Masked().String() == cidr && !p.Addr().Is4In6()
}

// nodeAndRange splits an exact affinity's name.
func nodeAndRange(r model.Ref) (string, netip.Prefix) {
	node, cidr, _ := strings.Cut(r.Name, "/")
	return node, netip.MustParsePrefix(cidr)
}

// How Calico shortens a node and a CIDR that are too long for one name.
const (
	maxName  = 252
	nameHash = 11
)

// affinityName is Calico's name of a node's affinity for a block.
func affinityName(node string, cidr netip.Prefix) string {
	dashed := model.BlockName(cidr)
	name := node + "-" + dashed
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(node + "+" + dashed))
	short := node[:maxName-len(dashed)-nameHash-len("--")]
	return short + "-" + dashed + "-" + hex.EncodeToString(sum[:])[:nameHash]
}

// isOf reports whether a spec belongs to the ref: names are derived from it, but are not
// proof.
func isOf(r model.Ref, spec []byte) bool {
	switch r.Kind {
	case model.KindBlock:
		v, err := object.Decode(r.Name, spec, func(v *object.Block) *lossless.Extra { return &v.Extra })
		return err == nil && sameRange(v.CIDR.V, r.Name)
	case model.KindHandle:
		v, err := object.Decode(r.Name, spec, func(v *object.Handle) *lossless.Extra { return &v.Extra })
		return err == nil && model.HandleKey(v.ID.V) == model.HandleKey(r.Name)
	case model.KindAffinity:
		v, err := object.Decode(r.Name, spec, func(v *object.Affinity) *lossless.Extra { return &v.Extra })
		node, cidr, _ := strings.Cut(r.Name, "/")
		// A virtual affinity belongs to no node, whatever its name.
		return err == nil && v.Node.V == node && sameRange(v.CIDR.V, cidr) && v.Type.V != "virtual"
	default:
		return false
	}
}

func sameRange(a, b string) bool {
	p, err := netip.ParsePrefix(a)
	q, err2 := netip.ParsePrefix(b)
	return err == nil && err2 == nil && p == q
}
