package guard

import (
	"fmt"
	"strconv"
	"strings"
)

// Types of Calico's plugins.
const (
	calicoPlugin = "calico"
	calicoIPAM   = "calico-ipam"
)

// UnknownIPAM stands for an IPAM type that could not be read.
const UnknownIPAM = "?"

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
//
// If the version of Calico is unknown, calico-ipam is treated as ByBoth: every release since
// 2017 is. For an older one that is safe too, because nothing is deleted by the pod's name.
// Any other plugin of unknown version is NotKnown: its late DELs are passed on, and Doubt
// says so.
func Keyed(plugin, ipam, version string) Keying {
	if plugin != calicoPlugin {
		return NotKnown
	}
	v, pre, ok := knownVersion(version)
	switch {
	case ok && (before(v, byContainerSince) || v == byContainerSince && pre):
		return ByName
	case ipam == calicoIPAM:
		return ByBoth
	case !ok, ipam == UnknownIPAM:
		return NotKnown
	default:
		return ByContainer
	}
}

// Doubt returns why it is not certain that a late DEL cannot reach a newer pod in mode
// enforce; empty if it is certain.
func Doubt(plugin, ipam, version string) string {
	if plugin != calicoPlugin {
		return fmt.Sprintf("the CNI plugin is %.64q, and only Calico's is known: late DELs are passed on", plugin)
	}
	_, _, ok := knownVersion(version)
	switch {
	case ok && ipam == UnknownIPAM:
		return "the IPAM type in Calico's CNI configuration cannot be read: late DELs are passed on"
	case ok:
		return ""
	}
	says := "Calico's CNI plugin does not report its version"
	if version = strings.TrimSpace(version); version != "" {
		says = fmt.Sprintf("Calico's CNI plugin reports the unknown version %.64q", version)
	}
	if Keyed(plugin, ipam, version) == NotKnown {
		return says + ": late DELs are passed on"
	}
	return says + ": the guard assumes that calico-ipam releases addresses by container ID and by pod name"
}

// KnownVersion reports whether the table of Keyed covers a version.
func KnownVersion(version string) bool {
	_, _, ok := knownVersion(version)
	return ok
}

func knownVersion(version string) (v [3]int, pre, ok bool) {
	v, pre, ok = parseVersion(version)
	return v, pre, ok && v[0] >= 1 && v[0] <= 3
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
