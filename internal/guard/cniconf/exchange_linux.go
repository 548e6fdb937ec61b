package cniconf

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// The number of renameat2, which the standard library does not have on every platform.
var renameat2 = map[string]uintptr{"amd64": 316, "arm64": 276}

// exchange swaps the names of two files atomically: both names always have a file, and the
// replaced file can still be read. A rename would lose what another program wrote since it
// was read.
func (realDisk) exchange(a, b string) error {
	number, known := renameat2[runtime.GOARCH]
	if !known {
		return fmt.Errorf("exchange %s and %s: %w", a, b, errors.ErrUnsupported)
	}
	from, err := syscall.BytePtrFromString(a)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(b)
	if err != nil {
		return err
	}
	const here, swap = -100, 2 // AT_FDCWD, RENAME_EXCHANGE
	cwd := here
	_, _, failed := syscall.Syscall6(number, uintptr(cwd), uintptr(unsafe.Pointer(from)), uintptr(cwd), uintptr(unsafe.Pointer(to)), swap, 0)
	if failed != 0 {
		return fmt.Errorf("exchange %s and %s: %w", a, b, failed)
	}
	return nil
}
