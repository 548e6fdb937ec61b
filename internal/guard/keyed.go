package guard

import (
	"strconv"
	"strings"
)

// Keyed returns how a delegate finds the objects that a DEL deletes, from its type, the
// type of its IPAM plugin and its version. The table comes from Calico's source; nothing is
// probed.
//
// Before v1.11.2 (December 2017) Calico finds addresses by pod name. Since then, including
// current releases, calico-ipam releases by container ID and then, on every DEL, also the
// legacy handle `<namespace>.<pod>`, whichever pod owns it now. So a late DEL of the newest
// Calico can still release the address of a running pod and must not be passed on as it is.
// But its first half is needed: otherwise the old sandbox's own address stays assigned as
// long as the new pod runs. calico-ipam takes the second handle from the pod's name in
// CNI_ARGS, and without a pod name from the container ID. So a late DEL goes to calico-ipam
// alone, without the pod's name, and cannot release anything by name. The WorkloadEndpoint
// is not touched: with a newer owner Calico itself would keep it. With another IPAM plugin
// Calico finds everything by container ID.
func Keyed(plugin, ipam, version string) Keying {
	if plugin != "calico" {
		return NotKnown
	}
	v, pre, ok := parseVersion(version)
	switch {
	case !ok || v[0] < 1 || v[0] > 3:
		return NotKnown
	case before(v, byContainerSince) || v == byContainerSince && pre:
		return ByName
	case ipam == "calico-ipam":
		return ByBoth
	default:
		return ByContainer
	}
}

var byContainerSince = [3]int{1, 11, 2}

func before(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// parseVersion reads v1.2.3 and v1.2.3-suffix. A suffix marks a pre-release.
func parseVersion(s string) (v [3]int, pre, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) > 100 || !strings.HasPrefix(s, "v") {
		return v, false, false
	}
	s, _, pre = strings.Cut(s[1:], "-")
	parts := strings.Split(s, ".")
	if len(parts) != len(v) {
		return v, pre, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return v, pre, false
		}
		v[i] = int(n)
	}
	return v, pre, true
}
