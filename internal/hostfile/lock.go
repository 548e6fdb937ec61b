package hostfile

import "errors"

// ErrLocked means that another process has the lock.
var ErrLocked = errors.New("another process has the lock")
