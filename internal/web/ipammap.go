package web

import (
	"encoding/json"
	"net/http"
	"net/netip"

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
		l := s.look(r, j, serial)
		says, block := l.recorded(ip)
		b, err := json.Marshal(map[string]string{"ip": ip.String(), "says": plain.Line(plain.ShortIDs(says)), "block": block})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, b)
		return
	}
	writeJSON(w, j.picture())
}

func writeJSON(w http.ResponseWriter, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // who asked may be gone
}
