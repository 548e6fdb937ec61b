package timeline

import (
	"fmt"
	"net/netip"
)

// noGateway finds pods whose gateway does not answer, by what people paste: entries of a pod's own
// neighbour table, and packets that tcpdump shows. An idle pod may have an old failed entry, so an
// entry alone is likely only.
func noGateway(rows []row) []Verdict {
	const many = 3 // the kernel repeats a request that was lost
	var out []Verdict
	entries := map[string]int{}                  // by file and device: its verdict
	asked := map[netip.Addr]map[uint16][]Place{} // by file
	answered := map[uint16]bool{}
	for i := range rows {
		r := &rows[i]
		switch {
		case r.kind == GatewayAnswered:
			answered[r.place.File] = true
		case r.kind == GatewayUnanswered && r.address.IsValid():
			if asked[r.address] == nil {
				asked[r.address] = map[uint16][]Place{}
			}
			asked[r.address][r.place.File] = append(asked[r.address][r.place.File], r.place)
		case r.kind == GatewayUnanswered:
			key := fmt.Sprint(r.place.File, r.device)
			n, ok := entries[key]
			if !ok {
				n, entries[key] = len(out), len(out)
				out = append(out, Verdict{
					Cause: NoGateway, Certainty: Likely, Says: "169.254.1.1 is not resolved on " + r.device + " of a pod: it reaches nothing",
					NotShown: []string{"which pod: the line does not name it", "whether it was sending: an idle pod may have an old entry"},
				})
			}
			if out[n].Count++; len(out[n].Lines) < maxContext {
				out[n].Lines = append(out[n].Lines, r.place)
			}
		}
	}
	for _, a := range sortedAddresses(asked) {
		var most []Place
		replied := false
		for file, at := range asked[a] {
			replied = replied || answered[file] // a capture may be cut into files anywhere
			if len(at) > len(most) || len(at) == len(most) && at[0].File < most[0].File {
				most = at
			}
		}
		if replied || len(most) < many {
			continue
		}
		out = append(out, Verdict{
			Cause: NoGateway, Certainty: Proven, Is: a, Count: len(most), Lines: tidy(most[:min(len(most), maxContext)]),
			Says:     fmt.Sprintf("the pod with %s asks for 169.254.1.1 %d times and gets no ARP reply", a, len(most)),
			NotShown: []string{"why: check reports it as PL3005 with its cause while it lasts"},
		})
	}
	return out
}
