package check

import (
	"math"
	"testing"

	"plumbline.dev/plumbline/internal/capacity"
)

func TestGrowth(t *testing.T) {
	t.Parallel()
	const day = 86400
	for _, one := range []struct {
		f    capacity.Forecast
		want string
	}{
		{capacity.Forecast{Pool: "p", PerDay: 340.9, SeenSeconds: 6 * 3600, EmptySeconds: 12 * day, LaterSeconds: 19 * day}, "grows by 340 addresses a day, as seen for 6h: empty in 12d, 19d later if what is leaked were free (PL1001)"},
		{capacity.Forecast{Pool: "p", PerDay: 1, SeenSeconds: 7 * day, EmptySeconds: 3 * day}, "grows by 1 address a day, as seen for 7d: empty in 3d"},
		{capacity.Forecast{Pool: "p", PerDay: 2, EmptySeconds: 3 * day}, "grows by 2 addresses a day: empty in 3d"},
		{capacity.Forecast{Pool: "p", PerDay: 1}, ""},
		{capacity.Forecast{Pool: "p", PerDay: 0.9, EmptySeconds: day}, ""},
		{capacity.Forecast{Pool: "p", PerDay: -5, EmptySeconds: day}, ""},
		{capacity.Forecast{Pool: "p", PerDay: 1e308, EmptySeconds: day}, ""},
		{capacity.Forecast{Pool: "other", PerDay: 1, EmptySeconds: day}, ""},
		{capacity.Forecast{Pool: "p", PerDay: 2, SeenSeconds: 3600, EmptySeconds: math.MaxFloat64, LaterSeconds: math.MaxFloat64}, "grows by 2 addresses a day, as seen for 60m: empty in more than 10y"},
	} {
		g := growth{pools: growing([]capacity.Forecast{one.f})}
		if got := g.of("p"); got != one.want {
			t.Errorf("%+v: %q", one.f, got)
		}
	}
}
