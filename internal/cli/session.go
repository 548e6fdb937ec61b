package cli

import (
	"fmt"
	"io"
	"strings"

	"plumbline.dev/plumbline/internal/cluster"
)

// An Env is what a command has of its process.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Columns        int // of the terminal; 0 means: ask it
}

// global is one run of the program: its process and the flags that all commands have.
type global struct {
	Env
	prog    string // how the user calls it
	cluster cluster.Options
	bundle  string // a file to read instead of the cluster
	verbose bool
}

// next prints the command that helps next, as it can be pasted.
func (g *global) next(format string, args ...any) {
	fmt.Fprintf(g.Stdout, "Next: %s %s\n", g.prog, fmt.Sprintf(format, args...))
}

// podNamed splits NAMESPACE/NAME; of a bare name the namespace is the flag's, else the
// kubeconfig's.
func (g *global) podNamed(name, namespace string) (ns, pod string) {
	if ns, pod, ok := strings.Cut(name, "/"); ok {
		return ns, pod
	}
	if namespace == "" {
		namespace = cluster.Namespace(g.cluster)
	}
	return namespace, name
}
