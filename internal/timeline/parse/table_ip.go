package parse

import (
	"bytes"
	"net/netip"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// Lines of `ip route`, `ip neigh`, `arp` and `tcpdump` that people paste: which interface of a node
// has the address of a pod, and whether a pod's gateway answers. They name no pod and have no
// date. Only interfaces that Calico named are read.

var (
	device     = []byte(" dev ")
	cali       = []byte("cali")
	gateway    = []byte("169.254.1.1")
	ether      = []byte(" ether ")
	incomplete = []byte("incomplete")
	arpHeader  = []byte(" ARP, ")
)

// wantsIP reports whether a line is one of these.
func wantsIP(text []byte) bool {
	if len(text) > maxRow {
		return false
	}
	ofCalico := bytes.Contains(text, cali) && (bytes.Contains(text, device) || bytes.Contains(text, ether))
	ofGateway := !ofCalico && bytes.Contains(text, gateway) && (bytes.Contains(text, device) || bytes.Contains(text, incomplete) || bytes.Contains(text, arpHeader))
	return (ofCalico || ofGateway) && ipRow(text).Kind != timeline.Nothing
}

// ipRow parses such a line; Kind is Nothing if it is none.
func ipRow(text []byte) (e timeline.Event) {
	words := bytes.Fields(text)
	if len(words) < 3 || len(words) > 24 {
		return e
	}
	switch {
	case string(words[1]) == "dev":
		return devRow(words)
	case string(words[1]) == "ARP,":
		return arpPacket(words)
	case len(words) > 5 && string(words[len(words)-2]) == "on" && string(words[0]) == "?" && string(words[2]) == "at": // BusyBox, arp -a
		at := address(bytes.Trim(words[1], "()"))
		return neighbour(at, words[len(words)-1], macOf(words[3]) == "")
	case string(words[1]) == "ether" && len(words) >= 5 && macOf(words[2]) != "":
		return neighbour(address(words[0]), words[len(words)-1], false)
	case string(words[1]) == "(incomplete)":
		return neighbour(address(words[0]), words[len(words)-1], true)
	default:
		return e
	}
}

// devRow parses what ip writes: ADDRESS dev INTERFACE, and the state of a neighbour at the end.
func devRow(words [][]byte) (e timeline.Event) {
	at := address(words[0])
	switch state := string(words[len(words)-1]); state {
	case "PERMANENT", "REACHABLE", "STALE", "DELAY", "PROBE", "NOARP":
		return neighbour(at, words[2], false)
	case "FAILED", "INCOMPLETE":
		return neighbour(at, words[2], true)
	default:
	}
	single := bytes.IndexByte(words[0], '/') < 0 || hostAddress(words[0])
	if at.IsValid() && single && bytes.HasPrefix(words[2], cali) && plainName(words[2]) {
		e = timeline.Event{Kind: timeline.RouteSeen, Address: at, Device: string(words[2])}
	}
	return e
}

// neighbour gives an entry of a neighbour table: of a node for a pod's address, or of a pod for its
// gateway that does not answer.
func neighbour(at netip.Addr, on []byte, unresolved bool) (e timeline.Event) {
	switch {
	case !at.IsValid() || !plainName(on):
	case at.String() == string(gateway) && unresolved && !bytes.HasPrefix(on, cali):
		e = timeline.Event{Kind: timeline.GatewayUnanswered, Device: string(on)}
	case bytes.HasPrefix(on, cali) && !unresolved:
		e = timeline.Event{Kind: timeline.NeighbourSeen, Address: at, Device: string(on)}
	}
	return e
}

// arpPacket parses what tcpdump writes of ARP packets about the gateway.
func arpPacket(words [][]byte) (e timeline.Event) {
	if len(words) < 6 || !timeOfDay(words[0]) {
		return e
	}
	switch {
	case string(words[2]) == "Request" && string(words[3]) == "who-has" && bytes.Equal(words[4], gateway):
		if i := 5; string(words[i]) == "tell" && len(words) > i+1 {
			if from := address(bytes.TrimSuffix(words[i+1], []byte{','})); from.IsValid() {
				e = timeline.Event{Kind: timeline.GatewayUnanswered, Address: from, Note: "asked"}
			}
		}
	case string(words[2]) == "Reply" && bytes.Equal(words[3], gateway):
		e = timeline.Event{Kind: timeline.GatewayAnswered}
	}
	return e
}

// timeOfDay reads 10:31:43.775985.
func timeOfDay(b []byte) bool {
	return len(b) >= 8 && b[2] == ':' && b[5] == ':' && number(b[:2]) && number(b[3:5]) && number(b[6:8])
}

// macOf gives a MAC address, or nothing.
func macOf(b []byte) string {
	if len(b) != 17 {
		return ""
	}
	for i, c := range b {
		if hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'; i%3 == 2 && c != ':' || i%3 != 2 && !hex {
			return ""
		}
	}
	return string(b)
}

// ofIP emits such a line.
func (t *Parser) ofIP(r *records.Record) {
	if e := ipRow(r.Text); e.Kind != timeline.Nothing {
		t.sayOf(r, "ip", e)
	}
}
