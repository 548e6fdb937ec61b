// Package term is what the verbs of the command line share: the session, which is the process
// with the flags that all commands have, texts and columns on a terminal, documents, and the
// opening of the cluster. It knows no verb.
package term

import (
	"fmt"
	"io"
	"strings"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// An Env is what a command has of its process.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Columns        int // of the terminal; 0 means: ask it
}

// A Session is one run of the program: its process and the flags that all commands have.
type Session struct {
	Env
	Program string // how the user calls it
	Cluster cluster.Options
	Bundle  string // a file to read instead of the cluster
	Verbose bool
}

// Next prints the command that helps next, as it can be pasted: it reads what this one read.
func (s *Session) Next(format string, args ...any) {
	next := s.Program + " " + fmt.Sprintf(format, args...)
	fmt.Fprintf(s.Stdout, "Next: %s\n", next+s.flagsBeside(next))
}

// Flags are those that another command needs to read what this one reads.
func (s *Session) Flags() string { return strings.TrimSpace(s.flagsBeside("")) }

// flagsBeside are those that a command line does not have yet.
func (s *Session) flagsBeside(line string) (out string) {
	k := &s.Cluster.Kube
	for _, f := range []struct{ name, value string }{ // a token is for its user to type
		{"bundle", s.Bundle},
		{"kubeconfig", k.Kubeconfig},
		{"context", k.Context},
		{"cluster", k.Overrides.Cluster},
		{"user", k.Overrides.User},
		{"server", k.Overrides.Server},
		{"as", k.Overrides.As},
		{"as-group", strings.Join(k.Overrides.AsGroups, ",")},
	} {
		if f.value != "" && !strings.Contains(line, "--"+f.name+" ") {
			out += " --" + f.name + " " + plain.Quoted(f.value)
		}
	}
	if s.Cluster.Kube.Forward {
		out += " --port-forward"
	}
	return out
}

// PodNamed splits NAMESPACE/NAME; of a bare name the namespace is the flag's, else the
// kubeconfig's.
func (s *Session) PodNamed(name, namespace string) (ns, pod string) {
	if ns, pod, ok := strings.Cut(name, "/"); ok {
		return ns, pod
	}
	if namespace == "" {
		namespace = cluster.Namespace(s.Cluster)
	}
	return namespace, name
}

// An Exit ends a command with this code, without an error message.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit codes; 0 is success.
const (
	ExitFindings Exit = 1
	ExitUsage    Exit = 2 // usage, or the cluster could not be read
	ExitGaps     Exit = 3 // no findings, but something in scope was not read
)
