// Command guest is the lab's agent in an emulated machine. It runs commands for the lab,
// over a serial port that needs no network: scenarios break the network.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// port is where udev puts the virtio port of that name.
const port = "/dev/virtio-ports/plumbline-lab"

func main() {
	if len(os.Args) == 2 {
		if os.Args[1] == "speed" {
			_, _ = fmt.Fprintln(os.Stdout, speed().Nanoseconds())
		}
		return // a process that does nothing
	}
	fmt.Fprintln(os.Stderr, "guest:", serve(port))
	os.Exit(1)
}

// speed measures this machine: how long it takes to run ten processes, at best of three.
// The lab divides it by its own. Nodes mostly start processes and wait for the kernel;
// an emulator is far better at computing.
func speed() time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		for range 10 {
			if err := exec.Command("/proc/self/exe", "nothing").Run(); err != nil {
				return best
			}
		}
		best = min(best, time.Since(start))
	}
	return best
}
