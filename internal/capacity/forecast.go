package capacity

import "time"

// How often the use of pools is noted, and over how long it is looked at. A forecast needs at least a
// sixth of its window.
const (
	every = 10 * time.Minute
	Short = 6 * time.Hour
	Long  = 7 * 24 * time.Hour
	part  = 6

	day  = 24 * time.Hour
	Most = 10 * 365 * day
)

// A History notes how the use of pools grows. It is for one goroutine. A new leader begins anew: who
// needs more than what one process saw asks Prometheus.
type History struct {
	pools map[string][]sample // by name, oldest first, at most Long/every
}

type sample struct {
	at        time.Duration // by the monotonic clock
	allocated int
}

// NewHistory returns an empty one.
func NewHistory() *History { return &History{pools: map[string][]sample{}} }

// Note takes the use of pools as of now; pools that are not among them any more are forgotten.
func (h *History) Note(now time.Duration, pools []Pool) {
	there := map[string]bool{}
	for i := range pools {
		p := &pools[i]
		there[p.Name] = true
		all := h.pools[p.Name]
		if len(all) > 0 && now-all[len(all)-1].at < every {
			continue
		}
		if len(all) >= int(Long/every) {
			all = all[1:]
		}
		h.pools[p.Name] = append(all, sample{now, p.Used + p.Leaked})
	}
	for name := range h.pools {
		if !there[name] {
			delete(h.pools, name)
		}
	}
}

// Growth is how many addresses of a pool are allocated more each second, over a window up to the last
// note; ok is false if too little is known.
func (h *History) Growth(pool string, window time.Duration) (perSecond float64, ok bool) {
	all := h.pools[pool]
	for len(all) > 0 && all[len(all)-1].at-all[0].at > window {
		all = all[1:]
	}
	if len(all) < 3 || all[len(all)-1].at-all[0].at < window/part {
		return 0, false
	}
	return slope(all), true
}

// slope is that of the line with the least squares.
func slope(all []sample) float64 {
	var x, y, xx, xy float64
	n := float64(len(all))
	for _, s := range all {
		at, use := (s.at - all[0].at).Seconds(), float64(s.allocated-all[0].allocated) // so that constant use gives exactly 0
		x, y, xx, xy = x+at, y+use, xx+at*at, xy+at*use
	}
	if d := n*xx - x*x; d > 0 {
		return (n*xy - x*y) / d
	}
	return 0
}

// Empty is when a pool has no free address any more if it goes on growing as over the longest window
// that is known; ok is false if that is unknown, or it does not grow by an address a day. More is how
// much later that would be if what is leaked were free.
func (h *History) Empty(p *Pool) (in, more time.Duration, ok bool) {
	growth, _, ok := h.grows(p)
	if !ok {
		return 0, 0, false
	}
	return seconds(float64(p.Free) / growth), seconds(float64(p.Leaked) / growth), true
}

// grows gives the growth over the longest window that is known, and how much of it was seen.
func (h *History) grows(p *Pool) (perSecond float64, seen time.Duration, ok bool) {
	window := Long
	perSecond, ok = h.Growth(p.Name, window)
	if !ok {
		window = Short
		perSecond, ok = h.Growth(p.Name, window)
	}
	if ok = ok && perSecond*day.Seconds() >= 1 && p.Addresses < Many && !p.Idle; ok {
		all := h.pools[p.Name]
		seen = min(window, all[len(all)-1].at-all[0].at)
	}
	return perSecond, seen, ok
}

// A Forecast tells when a pool that grows will be empty. Most is what stands for a longer time.
type Forecast struct {
	Pool         string  `json:"pool"`
	PerDay       float64 `json:"perDay"`                 // addresses that are allocated more each day, 1 or more
	SeenSeconds  float64 `json:"seenSeconds"`            // for how long that growth was seen
	EmptySeconds float64 `json:"emptySeconds"`           // until none is free
	LaterSeconds float64 `json:"laterSeconds,omitempty"` // how much later that would be if what is leaked were free
}

// Forecasts are those of all pools that grow.
func (h *History) Forecasts(pools []Pool) (out []Forecast) {
	for i := range pools {
		p := &pools[i]
		if perSecond, seen, ok := h.grows(p); ok {
			in, more, _ := h.Empty(p)
			out = append(out, Forecast{p.Name, perSecond * day.Seconds(), seen.Seconds(), in.Seconds(), more.Seconds()})
		}
	}
	return out
}

// seconds bounds what a slow growth leads to.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, Most.Seconds()) * float64(time.Second))
}
