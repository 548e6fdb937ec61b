package observe

import (
	"time"

	"golang.org/x/sys/unix"
)

// Uptime is the time since the machine booted. Unlike Go's monotonic clock it goes on while the
// machine is suspended: what is valid for some time elsewhere expires meanwhile.
func Uptime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Since(began)
	}
	return time.Duration(ts.Nano())
}
