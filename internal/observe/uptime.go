package observe

import "time"

var began = time.Now() //nolint:forbidigo // only used for durations
