package web

import (
	"fmt"
	"net/http"
	"time"
)

// stillHere is how often a page is told that nothing changed, so that it notices when nobody tells it any more.
const stillHere = 20 * time.Second

// live tells a page by server-sent events that there is another judgement. The page asks for what it shows.
func (s *Site) live(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	tick := time.NewTicker(stillHere)
	defer tick.Stop()
	for {
		_, serial, next := s.State.current()
		_ = out.SetWriteDeadline(time.Now().Add(3 * stillHere)) //nolint:forbidigo // a deadline; not all servers have one
		if _, err := fmt.Fprintf(w, "event: judged\ndata: %d\n\n", serial); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-next:
		case <-tick.C:
		}
	}
}
