// Command plumbline-cni is the CNI plugin that guards another: it stands in the network's
// configuration in its place, and calls it.
package main

import (
	"os"
	"time"

	"plumbline.dev/plumbline/internal/guard/plugin"
)

func main() {
	program, _ := os.Executable() // without it there is no marker beside it
	run := plugin.Main
	if len(os.Args) == 2 && os.Args[1] == "replay" && os.Getenv("CNI_COMMAND") == "" {
		run = plugin.Replay // by the keeper; runtimes give no arguments
	}
	os.Exit(run(plugin.World{
		Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Program: program, Dir: os.Getenv("PLUMBLINE_GUARD_DIR"),
		Now: time.Now, //nolint:forbidigo // the program owns the clock
	}))
}
