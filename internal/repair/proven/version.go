package proven

import (
	"cmp"
	"fmt"
	"regexp"
)

// A number is a version of Calico: v3.31.0 is 3, 31, 0.
type number struct{ major, minor, patch int }

var released = regexp.MustCompile(`^v?([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})$`)

// vendors are the suffixes of builds that differ from Calico's own by how they are compiled, not
// by what they write.
var vendors = []struct {
	suffix *regexp.Regexp
	who    string
}{
	{regexp.MustCompile(`-build[0-9]{8}$`), "Rancher (hardened-calico)"},
	{regexp.MustCompile(`-rancher[0-9]{1,3}$`), "Rancher"},
	{regexp.MustCompile(`-debian-[0-9]{1,3}-r[0-9]{1,3}$`), "Bitnami"},
	{regexp.MustCompile(`-(amd64|arm64|ppc64le|s390x)$`), "Calico, for one architecture"},
	{regexp.MustCompile(`-fips$`), "Calico (FIPS)"},
}

// Plain returns the version of Calico that a build is made of, and who built it; who is empty for
// Calico's own, and plain for what is no version.
func Plain(version string) (plain, who string) {
	for _, v := range vendors {
		if at := v.suffix.FindStringIndex(version); at != nil {
			version, who = version[:at[0]], v.who
			break
		}
	}
	n, ok := parse(version)
	if !ok {
		return "", ""
	}
	return fmt.Sprintf("v%d.%d.%d", n.major, n.minor, n.patch), who
}

func parse(version string) (n number, ok bool) {
	m := released.FindStringSubmatch(version)
	if m == nil {
		return n, false
	}
	_, err := fmt.Sscanf(m[1]+" "+m[2]+" "+m[3], "%d %d %d", &n.major, &n.minor, &n.patch)
	return n, err == nil
}

// SameMinor reports that both are versions, of one minor, whoever built them.
func SameMinor(a, b string) bool {
	a, _ = Plain(a)
	b, _ = Plain(b)
	x, okX := parse(a)
	y, okY := parse(b)
	return okX && okY && x.major == y.major && x.minor == y.minor
}

// Before reports that a version is known to be older than that minor.
func Before(version string, major, minor int) bool {
	plain, _ := Plain(version)
	n, ok := parse(plain)
	return ok && (n.major < major || n.major == major && n.minor < minor)
}

func compare(a, b string) int {
	x, _ := parse(a)
	y, _ := parse(b)
	return cmp.Or(cmp.Compare(x.major, y.major), cmp.Compare(x.minor, y.minor), cmp.Compare(x.patch, y.patch))
}
