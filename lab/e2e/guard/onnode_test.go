//go:build e2e

package guard

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/lab"
)

// onNode runs f on a thread that is in the node's namespaces, as far as f's children are
// concerned. The thread ends with it.
func onNode(n *lab.Node, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: it is of no use to others
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("leave the file system of the others: %w", err)
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
