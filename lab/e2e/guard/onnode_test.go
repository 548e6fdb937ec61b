//go:build e2e

package guard

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/lab"
)

// onNode runs f on a thread in the node's namespaces, which f's child processes inherit.
// The thread ends with f.
func onNode(n *lab.Node, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: no other goroutine may use this thread
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("unshare the file system attributes: %w", err)
			}
			var files []*os.File
			for _, kind := range spaces {
				f, err := os.Open(spaceOf(n, kind))
				if err != nil {
					return err
				}
				defer func() { _ = f.Close() }()
				files = append(files, f)
			}
			for i, s := range files {
				if err := unix.Setns(int(s.Fd()), 0); err != nil {
					return fmt.Errorf("enter the %s namespace of %s: %w", spaces[i], n.Name, err)
				}
			}
			return f()
		}()
	}()
	return <-done
}
