// Command lab runs a real Kubernetes with real Calico on one machine and reproduces real
// incidents on it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"plumbline.dev/plumbline/lab"
)

func main() {
	lab.Init()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, env{os.Args[1:], os.Stdin, os.Stdout, os.Stderr})
	stop()
	var exit exitCode
	switch {
	case err == nil:
	case errors.As(err, &exit):
		os.Exit(int(exit))
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

// env holds the arguments and streams that a command may use.
type env struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
}

var errUsage = errors.New("usage")

// A command gets the arguments after its name.
type command struct {
	name, args, help string
	run              func(context.Context, env) error
}

func commands() []command {
	return []command{
		{"build", "[--machine M] [PART…]", "build the lab's components; parts: gvisor, nfs", buildParts},
		{"up", "[FLAGS]", "start a cluster; up --help lists the flags", up},
		{"down", "[--all]", "stop a lab and remove all of it", down},
		{"list", "", "list the labs on this machine", list},
		{"leftovers", "", "fail if anything of a lab is left on the machine", leftovers},
		{"status", "", "show the state of every component of a lab", status},
		{"kubectl", "ARGS…", "kubectl, as administrator", forward("kubernetes", "kubectl")},
		{"calicoctl", "ARGS…", "calicoctl, with full permissions", forward("calico", "calicoctl")},
		{"do", "-- CMD…", "run a command in the lab, with KUBECONFIG set", do},
		{"exec", "NODE -- CMD…", "run a command on a node", execNode},
		{"reboot", "NODE", "reboot a machine", power("reboot")},
		{"power-cut", "NODE", "cut a machine's power for a moment", power("power-cut")},
		{"pause", "NODE DURATION", "stop a machine and its clock for a while", power("pause")},
		{"clock", "NODE OFFSET", "set a machine's clock: 10m is ten minutes ahead", power("clock")},
		{"image", "FILE | --binary FILE …", "import an image on every node, or write one", images},
		{"agents", "[FLAGS]", "install Plumbline's agents on every node", agents},
		{"logs", "NODE|control-plane PART", "print a log: kubelet, containerd, felix, cni, …", logs},
		{"load", "[FLAGS]", "fill a control-plane-only lab; see load --help", fill},
		{"run", "SCENARIO [FLAGS]", "reproduce an incident and check its symptoms", runScenario},
		{"scenarios", "", "list the incidents", scenarioList},
	}
}

func run(ctx context.Context, e env) error {
	if len(e.args) == 0 || e.args[0] == "help" || e.args[0] == "--help" || e.args[0] == "-h" {
		usage(e.stdout)
		return nil
	}
	for _, c := range commands() {
		if c.name == e.args[0] {
			e.args = e.args[1:]
			return c.run(ctx, e)
		}
	}
	return fmt.Errorf("%w: no command %q; lab help lists them", errUsage, e.args[0])
}

func usage(w io.Writer) {
	_, _ = fmt.Fprint(w, `lab runs a real Kubernetes with real Calico on this machine, in namespaces of
its own, and produces real incidents on it. It needs root.

`)
	for _, c := range commands() {
		_, _ = fmt.Fprintf(w, "  %-29s %s\n", c.name+" "+c.args, c.help)
	}
	_, _ = fmt.Fprint(w, `
Several labs run side by side: commands that talk to one take --name X as their
first argument, in front of everything else.

Examples:
  lab up --nodes 3
  lab up --nodes 1 --machines 1 --machine debian13
  lab kubectl get nodes -o wide
  lab exec node1 -- ip route
  lab logs node1 kubelet
  lab run late-del --datastore etcd --keep
  lab down
`)
}
