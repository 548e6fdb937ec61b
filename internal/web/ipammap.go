package web

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/ipammap"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// ipam shows the map of pools, blocks and addresses; what it draws comes as data.
func (l *look) ipam() (string, any, error) {
	notJudged := audit.NotJudged(l.Skipped)
	var skipped []finding.Code
	for _, c := range []finding.Code{finding.PL1001, finding.PL1002, finding.PL1003, finding.PL2010} {
		if notJudged[c] {
			skipped = append(skipped, c)
		}
	}
	return "map", map[string]any{"Unread": !l.View.State(model.Blocks, "").Seen() || !l.View.State(model.Pools, "").Seen(), "Skipped": skipped, "Pools": l.pools(), "Kinds": ipammap.Kinds, "Block": l.q.Get("block"), "Most": ipammap.Worst(l.Report, 20)}, nil
}

// mapData is what the map draws.
func (s *Site) mapData(w http.ResponseWriter, r *http.Request) {
	j, serial, _ := s.State.current()
	if j == nil {
		http.Error(w, "the cluster is being read", http.StatusServiceUnavailable)
		return
	}
	if ip, err := netip.ParseAddr(r.URL.Query().Get("ip")); err == nil { // who has one address
		says, block := s.look(r, j, serial).recorded(ip)
		writeWords(w, map[string]string{"ip": ip.String(), "says": plain.Line(plain.ShortIDs(says)), "block": block})
		return
	}
	if name := r.URL.Query().Get("pod"); name != "" {
		writeWords(w, s.look(r, j, serial).whereabouts(name))
		return
	}
	writeJSON(w, j.picture())
}

// whereabouts is the first address of a pod that is named as NAMESPACE/POD, or as POD where only one is called so.
func (l *look) whereabouts(name string) map[string]string {
	if page, _, pod := l.exactly(name); page != nil {
		ns, short, ok := strings.Cut(pod, "/")
		if p := l.View.PodByName(ns, short); ok && p != nil && len(p.IPs) > 0 {
			return map[string]string{"pod": plain.Line(pod), "ip": p.IPs[0].String()}
		}
	}
	return map[string]string{"says": "no pod with an address is called " + plain.Line(name) + ", or several are: NAMESPACE/POD"}
}

func writeWords(w http.ResponseWriter, words map[string]string) {
	b, err := json.Marshal(words)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, b)
}

func writeJSON(w http.ResponseWriter, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // who asked may be gone
}
