package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"plumbline.dev/plumbline/lab"
)

// parse reads flags at any position and returns the other arguments. It prints help to
// stdout, because help was requested.
func parse(e env, fs *flag.FlagSet) ([]string, error) {
	fs.SetOutput(io.Discard) // Parse returns the error with the same text
	fs.Usage = func() {}
	var rest []string
	for args := e.args; ; {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				help(e.stdout, fs)
				return nil, err
			}
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

func help(w io.Writer, fs *flag.FlagSet) {
	_, _ = fmt.Fprintf(w, "flags of lab %s:\n\n", fs.Name())
	fs.VisitAll(func(f *flag.Flag) {
		arg, text := flag.UnquoteUsage(f)
		_, _ = fmt.Fprintf(w, "  %-26s %s\n", strings.TrimRight("--"+f.Name+" "+arg, " "), text)
	})
}

// inLab ensures that the process runs inside the lab, which --name may select as the
// first argument; otherwise it replaces the process by the same command inside the lab.
// It returns the lab and the arguments without the name.
func inLab(e env) (*lab.Lab, []string, error) {
	name, args := lab.DefaultName, e.args
	named := len(args) >= 2 && args[0] == "--name"
	if named {
		name, args = args[1], args[2:]
	}
	if inside, ok := lab.Inside(); ok {
		if named && inside != name {
			return nil, nil, fmt.Errorf("this process runs inside lab %s; lab %s cannot be reached from here", inside, name)
		}
		l, err := lab.Open()
		return l, args, err
	}
	return nil, nil, enter(name, os.Args[1:]...)
}

// enter replaces this process by the same command inside the lab.
func enter(name string, args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	err = lab.Enter(name, append([]string{exe}, args...)...)
	if errors.Is(err, lab.ErrNoLab) {
		return fmt.Errorf("%w; start it with: lab up --name %s", err, name)
	}
	return err
}
