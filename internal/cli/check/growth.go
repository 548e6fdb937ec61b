package check

import (
	"context"
	"errors"
	"fmt"
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
		g.pools = map[string]capacity.Forecast{}
		for _, f := range told.Pools {
			g.pools[f.Pool] = f
		}
	}
	return g
}

// of says when a pool will be empty; nothing if that is unknown or it does not grow.
func (g growth) of(pool string) string {
	f, ok := g.pools[pool]
	if !ok || f.EmptySeconds <= 0 { // what is full is a finding
		return ""
	}
	out := fmt.Sprintf("grows by %s a day: empty in %s", plain.Count(int(f.PerDay), "address"), age(f.EmptySeconds))
	if f.LaterSeconds >= time.Hour.Seconds() {
		out += fmt.Sprintf(", %s later if what is leaked were free (PL1001)", age(f.LaterSeconds))
	}
	return out
}

// age of seconds that the controller said, which may be anything.
func age(s float64) string {
	const most = 100 * 365 * 24 * time.Hour
	return plain.Age(time.Duration(min(max(s, 0), most.Seconds()) * float64(time.Second)))
}
