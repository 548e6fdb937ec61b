package host

import (
	"bytes"
	"slices"
)

// settings are the variables of Calico's processes that select its behaviour; others may be
// secrets.
var settings = map[string]bool{
	"FELIX_BPFENABLED": true, "FELIX_INTERFACEPREFIX": true, "CALICO_NETWORKING_BACKEND": true, "USE_POD_CIDR": true,
	healthPort: true, "NODENAME": true, "FELIX_FELIXHOSTNAME": true, "FELIX_ROUTEREFRESHINTERVAL": true,
	"FELIX_REMOVEEXTERNALROUTES": true,
}

const (
	healthPort = "FELIX_HEALTHPORT"
	maxSetting = 253 // the maximum length of a node name
)

// parseSettings returns the settings in an environment, and the names of those whose values
// are not accepted. Of a duplicate variable the first value counts, as for getenv.
func parseSettings(b []byte) (set map[string]string, refused []string) {
	set = map[string]string{}
	for v := range bytes.SplitSeq(b, []byte{0}) {
		k, value, ok := bytes.Cut(v, []byte("="))
		name := string(k)
		if !ok || len(value) == 0 || !settings[name] || set[name] != "" || slices.Contains(refused, name) {
			continue
		}
		if !plausible(name, value) {
			refused = append(refused, name)
			continue
		}
		set[name] = string(value)
	}
	return set, refused
}

// plausible reports whether a value is short and printable, and a port if it should be one.
func plausible(name string, value []byte) bool {
	if len(value) > maxSetting {
		return false
	}
	for _, c := range value {
		if c < ' ' || c > '~' {
			return false
		}
	}
	if name != healthPort {
		return true
	}
	n, ok := number(value)
	return ok && n >= 1 && n <= 65535
}
