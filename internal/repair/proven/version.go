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
	for found := true; found; { // each time it is shorter
		found = false
		for _, v := range vendors {
			if at := v.suffix.FindStringIndex(version); at != nil {
				version, who, found = version[:at[0]], v.who, true
			}
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

var minorOf = regexp.MustCompile(`^v?([0-9]{1,3}\.[0-9]{1,3})(?:$|[^0-9])`)

// SameMinor reports that both are of one minor, whatever follows it.
func SameMinor(a, b string) bool {
	x, y := minorOf.FindStringSubmatch(a), minorOf.FindStringSubmatch(b)
	return x != nil && y != nil && x[1] == y[1]
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
