package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
)

// seedNames are the names that stand in the seeds, longer ones before those they begin with.
var seedNames = []string{
	"xxxx-xxxxx-index-task-569f775985-2qv8x", "xxxx-xxxxx-index-task", "kube-cluster-node-xxx", "xxx-xxxx",
	"cudoc-service-2824592204-3f6qj", "dev-laikang", "stateful-new-pod-0", "etcd1-0", "lijiaob", "XXXXX-system", "XXXXX-0",
	"dev-slave-107", "slave-197", "slave-97", "paas-slave-20-48",
}

// nastyNames are names that mean something else where they stand.
var nastyNames = []string{"eth0", "k8s", "endpoint", "workload", "pod", "default", "pause", "host", "block", "node", "x", "0", "a-0", "a-01", "a-0-0"}

// replaced finds what a disguise replaces: the kinds are the names of its groups.
var replaced = regexp.MustCompile(`(?P<secret>eyJ[\w.-]+)` +
	`|(?P<rfc>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))` +
	`|(?P<printed>[12]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}(?: CST)?)` +
	`|(?P<bracket>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)` +
	`|(?P<slashes>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)` +
	`|(?P<syslog>` + months + ` \d\d \d\d:\d\d:\d\d)` +
	`|(?P<klog>\b(?:[IWEF]|INFO:|ERROR:|WARNING:)\d{4} \d\d:\d\d:\d\d\.\d{6})` +
	`|(?P<uid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})` +
	`|(?P<mac>\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b)` +
	`|(?P<name>` + strings.Join(seedNames, "|") + `)` +
	`|(?P<device>cali[0-9a-f]{11})` +
	`|(?P<id>[0-9a-f]{64}|\b[0-9a-f]{6,14}\b)` +
	`|(?P<address>\d+\.\d+\.\d+\.\d+)` +
	`|(?P<process>\b(?:11608|15567|14313|5448|27666|10628|30849|31238|16707|21740)\b)`)

// replacedInWords finds in a verdict's words what a disguise replaces: times stand there alone.
var replacedInWords = regexp.MustCompile(replaced.String() + `|(?P<clock>\b\d\d:\d\d:\d\d\b)`)

// A piece is a part of a text: as it stands, or to be replaced.
type piece struct {
	text, kind string
}

func pieces(text string, by *regexp.Regexp) []piece {
	var out []piece
	last := 0
	for _, m := range by.FindAllStringSubmatchIndex(text, -1) {
		g := 1
		for m[2*g] < 0 {
			g++
		}
		out = append(out, piece{text[last:m[0]], ""}, piece{text[m[0]:m[1]], by.SubexpNames()[g]})
		last = m[1]
	}
	return append(out, piece{text[last:], ""})
}

// A disguise replaces names, IDs, addresses and times, the same by the same.
type disguise struct {
	rng   *rand.Rand
	by    map[string]string
	ids   map[string]string // by their first twelve digits, or a UID's first eight
	shift time.Duration     // whole seconds
	zone  *time.Location
	year  int // of stamps that have none
	said  map[string][]piece
}

func (d *disguise) once(key string, fresh func() string) string {
	if _, ok := d.by[key]; !ok {
		s := fresh()
		for slices.Contains(values(d.by), s) {
			s = fresh()
		}
		d.by[key] = s
	}
	return d.by[key]
}

func values(m map[string]string) (out []string) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// of gives what a piece is replaced with.
func (d *disguise) of(p piece) string {
	switch p.kind {
	case "", "secret":
		return p.text
	case "name":
		return d.once(p.text, d.name)
	case "uid":
		d.ids[p.text[:8]] = d.once(p.text, func() string {
			h := d.hex(32)
			return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
		})
		return d.by[p.text]
	case "mac":
		return d.once(p.text, func() string { return d.spread(d.hex(12), 2, ":") })
	case "device":
		return d.once(p.text, func() string { return "cali" + d.hex(11) })
	case "process":
		return d.once(p.text, func() string { return fmt.Sprint(2 + d.rng.IntN(4<<20)) })
	case "id":
		return d.id(p.text)
	case "address":
		return d.address(p.text)
	default:
		return d.stamp(p)
	}
}

// words replaces what stands in a verdict.
func (d *disguise) words(s string) string {
	var b strings.Builder
	said, ok := d.said[s]
	if !ok {
		said = pieces(s, replacedInWords)
		d.said[s] = said
	}
	for _, p := range said {
		b.WriteString(d.of(p))
	}
	return b.String()
}

func (d *disguise) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[d.rng.IntN(16)]
	}
	return string(b)
}

func (d *disguise) spread(s string, n int, with string) string {
	var parts []string
	for c := range slices.Chunk([]byte(s), n) {
		parts = append(parts, string(c))
	}
	return strings.Join(parts, with)
}

// name makes a name that Kubernetes would allow.
func (d *disguise) name() string {
	if d.rng.IntN(12) == 0 {
		return nastyNames[d.rng.IntN(len(nastyNames))]
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	b := make([]byte, 1+d.rng.IntN(40))
	for i := range b {
		b[i] = letters[d.rng.IntN(len(letters))]
	}
	b[0], b[len(b)-1] = letters[d.rng.IntN(26)], letters[d.rng.IntN(36)]
	return string(b)
}

// id replaces a container's ID, or the beginning of one that stands in the text as well.
func (d *disguise) id(old string) string {
	if len(old) == 64 || len(old) == 12 {
		if _, ok := d.ids[old[:12]]; !ok {
			d.ids[old[:12]] = d.hex(64)
		}
		return d.ids[old[:12]][:len(old)]
	}
	for k, v := range d.ids {
		if n := min(len(k), len(old)); k[:n] == old[:n] && len(old) <= len(v) {
			return v[:len(old)]
		}
	}
	return old
}

// address replaces addresses block by block: what was of a block of 64 still is.
func (d *disguise) address(old string) string {
	a, err := netip.ParseAddr(old)
	if err != nil || a.IsLinkLocalUnicast() || a.IsUnspecified() {
		return old
	}
	b := a.As4()
	low := b[3] & 63
	b[3] &^= 63
	block := d.once(netip.AddrFrom4(b).String()+"-26", func() string {
		first := []byte{10, 100, 172, 192, 11, 203}[d.rng.IntN(6)]
		return netip.AddrFrom4([4]byte{first, byte(d.rng.IntN(256)), byte(d.rng.IntN(256)), byte(d.rng.IntN(4)) << 6}).String()
	})
	b = netip.MustParseAddr(block).As4()
	b[3] |= low * 37 & 63 // each another, and the block's own name stays it
	return netip.AddrFrom4(b).String()
}
