package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// growth is how pools grow. Only a controller can tell: it watches for days.
type growth struct {
	pools  map[string]capacity.Forecast
	unread string // why a controller that runs does not tell
}

// growthWithin bounds how long status waits for a controller.
const growthWithin = 15 * time.Second

// growthOf asks the controller, if one runs.
func growthOf(ctx context.Context, sess *term.Session) (g growth) {
	if sess.Bundle != "" {
		return growth{}
	}
	ctx, cancel := context.WithTimeout(ctx, growthWithin)
	defer cancel()
	told, err := cluster.HeadFromController(ctx, sess.Cluster)
	switch {
	case errors.Is(err, cluster.ErrNoController):
	case err != nil:
		g.unread = plain.Line(err.Error())
	case told.Age > outdated:
		g.unread = fmt.Sprintf("the controller judged %s ago", plain.Age(told.Age))
	default:
		g.pools = growing(told.Pools)
	}
	return g
}

// growing are the pools that grow, by name; what the controller says may be anything.
func growing(told []capacity.Forecast) map[string]capacity.Forecast {
	out := map[string]capacity.Forecast{}
	for _, f := range told {
		if f.PerDay >= 1 && f.PerDay <= math.MaxInt32 && f.EmptySeconds > 0 && f.LaterSeconds >= 0 && f.SeenSeconds >= 0 { // what is full is a finding
			out[f.Pool] = f
		}
	}
	return out
}

// of says when a pool will be empty; nothing if that is unknown or it does not grow.
func (g growth) of(pool string) string {
	f, ok := g.pools[pool]
	if !ok {
		return ""
	}
	seen := ""
	if f.SeenSeconds > 0 { // an older controller does not tell
		seen = ", as seen for " + age(f.SeenSeconds)
	}
	out := fmt.Sprintf("grows by %s a day%s: empty in %s", plain.Count(int(f.PerDay), "address"), seen, age(f.EmptySeconds))
	if f.LaterSeconds >= time.Hour.Seconds() && f.EmptySeconds < capacity.Most.Seconds() {
		out += fmt.Sprintf(", %s later if what is leaked were free (PL1001)", age(f.LaterSeconds))
	}
	return out
}

// age of seconds that the controller said.
func age(s float64) string {
	if s >= capacity.Most.Seconds() {
		return "more than " + plain.Age(capacity.Most)
	}
	return plain.Age(time.Duration(s * float64(time.Second)))
}
