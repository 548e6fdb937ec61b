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
		{capacity.Forecast{Pool: "p", PerDay: 340.9, EmptySeconds: 12 * day, LaterSeconds: 19 * day}, "grows by 340 addresses a day: empty in 12d, 19d later if what is leaked were free (PL1001)"},
		{capacity.Forecast{Pool: "p", PerDay: 1, EmptySeconds: 3 * day}, "grows by 1 address a day: empty in 3d"},
		{capacity.Forecast{Pool: "p", PerDay: 1}, ""},
		{capacity.Forecast{Pool: "other", PerDay: 1, EmptySeconds: day}, ""},
		{capacity.Forecast{Pool: "p", PerDay: 2, EmptySeconds: math.MaxFloat64, LaterSeconds: math.MaxFloat64}, "grows by 2 addresses a day: empty in 100y, 100y later if what is leaked were free (PL1001)"},
	} {
		g := growth{pools: map[string]capacity.Forecast{one.f.Pool: one.f}}
		if got := g.of("p"); got != one.want {
			t.Errorf("%+v: %q", one.f, got)
		}
	}
}
