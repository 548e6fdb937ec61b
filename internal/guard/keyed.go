package guard

import (
	"strconv"
	"strings"
)

// Keyed says by what a delegate finds what it is to delete, by its type, its IPAM
// plugin's and the version that it gives. It is a table from the sources, and nothing is
// tried out.
//
// Calico looks for addresses by pod name before v1.11.2 (December 2017). Since then, and
// up to today, calico-ipam releases by container and after that, on every DEL, what it
// would have called the same pod before: the handle `<namespace>.<pod>`, whoever has it
// now. So a late DEL of the newest Calico can still take the address of a living pod, and
// must not be passed on as it is. But half of it is wanted: else the old sandbox's own
// address would stay taken as long as the new pod lives. calico-ipam takes the second
// handle from the pod's name in CNI_ARGS; not told a name, it takes the container's ID.
// So a late DEL goes to calico-ipam alone, unnamed: that cannot touch what is found by a
// name. The endpoint is left alone: with a newer owner Calico itself would keep it.
// With another IPAM plugin Calico finds all by container.
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

// parseVersion reads v1.2.3 and v1.2.3-anything. What follows makes it an earlier one.
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
