package loggen

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A slot is a value of the recording that a history replaces.
type slot struct {
	role  string // such as sandbox2; its letters are its kind
	value string // as recorded
	of    string // role of which this is another form
	form  form
}

// A form is how a value is written.
type form uint8

const (
	plain    form = iota
	start         // the first twelve characters of an ID
	endpoint      // Calico's name of the pod's endpoint on the node that role of names
	dashed        // with its dashes doubled
)

// Values that are found in the lines of a recording and must differ in every history, although no
// scene sets them.
var found = []struct {
	role string
	look *regexp.Regexp
}{
	{"id", regexp.MustCompile(`\b[0-9a-f]{64}\b`)},
	{"uuid", regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)},
	{"volume", regexp.MustCompile(`\bkube-api-access-([a-z0-9]{5})\b`)},
	{"mac", regexp.MustCompile(`\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b`)},
	{"block", regexp.MustCompile(`(?:block=|cidr=|affinity for )(\d+\.\d+\.\d+\.\d+)/26`)},
	{"pid", regexp.MustCompile(`^\S+ \S+ \[[A-Z]+\](\[\d+\])`)},
	{"kubelet", regexp.MustCompile(`\bkubelet\[(\d+)\]`)},
	{"event", regexp.MustCompile(`\.([0-9a-f]{16})\b`)},
}

// sameMAC is the MAC address that Calico gives to every host veth: it identifies nothing.
const sameMAC = "ee:ee:ee:ee:ee:ee"

// slotsOf gives all values that are replaced in lines, longest first, so that a value that
// contains another wins.
func slotsOf(values []slot, lines [][]string) []slot {
	out := slices.Clone(values)
	known := map[string]bool{sameMAC: true}
	for _, s := range values {
		known[s.value] = true
	}
	for _, part := range lines {
		for _, l := range part {
			for _, f := range found {
				for _, m := range f.look.FindAllStringSubmatch(l, -1) {
					v := m[len(m)-1]
					if !known[v] {
						known[v] = true
						out = append(out, slot{role: f.role + ":" + v, value: v})
					}
				}
			}
		}
	}
	out = append(out, spellings(out)...)
	slices.SortStableFunc(out, func(a, b slot) int { return cmp.Compare(len(b.value), len(a.value)) })
	return out
}

// spellings gives the other forms in which values appear in lines.
func spellings(slots []slot) []slot {
	var out []slot
	for _, s := range slots {
		if len(s.value) == 64 {
			out = append(out, slot{role: s.role, value: s.value[:12], form: start})
		}
		if s.role != "pod" {
			continue
		}
		double := strings.ReplaceAll(s.value, "-", "--")
		if double != s.value {
			out = append(out, slot{role: s.role, value: double, form: dashed})
		}
		for _, n := range slots {
			if sort(n.role) == "node" || n.role == "other" {
				out = append(out, slot{role: s.role, value: n.value + "-k8s-" + double + "-eth0", of: n.role, form: endpoint})
			}
		}
	}
	return out
}

// sort gives the kind of a role: its letters before a number or a colon.
func sort(role string) string {
	return strings.TrimRight(strings.SplitN(role, ":", 2)[0], "0123456789")
}

// spell gives a slot's value in a history from the values of the roles.
func (s *slot) spell(values map[string]string) string {
	v := values[s.role]
	switch s.form {
	case start:
		return v[:min(12, len(v))]
	case dashed:
		return strings.ReplaceAll(v, "-", "--")
	case endpoint:
		return strings.ReplaceAll(values[s.of], "-", "--") + "-k8s-" + strings.ReplaceAll(v, "-", "--") + "-eth0"
	default:
		return v
	}
}
