// Command plumbline-cni is the CNI plugin of the guard: it replaces another plugin in the
// network configuration, and calls it.
package main

import (
	"os"
	"time"

	"plumbline.dev/plumbline/internal/guard/plugin"
)

func main() {
	program, _ := os.Executable() // without it no marker beside it is found
	run := plugin.Main
	if len(os.Args) == 2 && os.Args[1] == "replay" && os.Getenv("CNI_COMMAND") == "" {
		run = plugin.Replay // by the guard daemon; runtimes pass no arguments
	}
	os.Exit(run(plugin.World{
		Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Program: program, Dir: os.Getenv("PLUMBLINE_GUARD_DIR"),
		Now: time.Now, //nolint:forbidigo // the program owns the clock
	}))
}
