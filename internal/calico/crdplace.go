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

// A place is where Calico keeps an object among the custom resources.
type place struct{ resource, kind, name string }

// placeOf says where Calico itself would create the object.
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
		return place{}, fmt.Errorf("%s: not kept in custom resources: %w", r, execute.ErrRefused)
	}
}

// exact refuses a ref that could name more than one thing, or nothing: what is read by it
// would be written by it.
func exact(r model.Ref) error {
	ok := false
	switch r.Kind {
	case model.KindBlock:
		ok = masked(r.Name)
	case model.KindHandle:
		// Both datastores have handles beside each other: a slash would leave that place.
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
		return fmt.Errorf("%s: not the name of an object of Calico's: %w", r, execute.ErrRefused)
	}
	return nil
}

// masked tells a range as Calico spells it: no address inside it, none of IPv4 in IPv6.
func masked(cidr string) bool {
	p, err := netip.ParsePrefix(cidr)
	return err == nil && p.Masked().String() == cidr && !p.Addr().Is4In6()
}

// nodeAndRange takes an exact affinity's name apart.
func nodeAndRange(r model.Ref) (string, netip.Prefix) {
	node, cidr, _ := strings.Cut(r.Name, "/")
	return node, netip.MustParsePrefix(cidr)
}

// What Calico makes of a node and a range that are too long for one name.
const (
	maxName  = 252
	nameHash = 11
)

// affinityName is what Calico calls a node's affinity for a range.
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

// isOf tells that a spec is that of the ref: names are made from it, but they are not it.
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
		// What is virtual is of no node, whatever it is called.
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
