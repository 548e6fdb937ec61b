//go:build !linux

package observe

import "time"

// Uptime is the time since the program began. Unlike Go's monotonic clock it goes on while the
// machine is suspended, as the wall clock does; it never goes back by itself.
func Uptime() time.Duration {
	now := time.Now() //nolint:forbidigo // only used for durations
	return max(now.Sub(began), now.Round(0).Sub(began.Round(0)))
}
