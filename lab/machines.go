package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab/build"
	"plumbline.dev/plumbline/lab/guest/frame"
	"plumbline.dev/plumbline/lab/machine"
	"plumbline.dev/plumbline/lab/supervise"
)

const (
	machineDir   = stateDir + "/machines"
	machineParts = "/opt/plumbline-lab" // where a machine has the lab's programs
)

// bootTimeout is far more than an emulated machine needs on a busy host.
const bootTimeout = 4 * time.Minute

// isMachine returns whether the node with that number is an emulated machine: they are
// counted after the namespace nodes of the start.
func (l *Lab) isMachine(i int) bool { return i > l.Nodes && i <= l.Nodes+l.Machines }

// Bin is the path of a built program, on the node.
func (n *Node) Bin(component, name string) string {
	if n.IsMachine() {
		return filepath.Join(machineParts, component, name)
	}
	return n.lab.Bin(component, name)
}

// Scale lengthens a time limit by how much slower the lab's machines are than the host.
func (l *Lab) Scale(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(1, l.Slow))
}

// mostSlow bounds the factor: a limit is for what hangs.
const mostSlow = 8

// createMachine boots a machine and runs its container runtime with the images. It does
// not need the API server.
func (l *Lab) createMachine(ctx context.Context, i int) (*Node, error) {
	name := nodeName(i)
	spec := machine.Spec{
		Name: name, Dir: machineDir, Image: l.Image, Parts: l.Disk, Tap: "port" + strconv.Itoa(i), Index: i,
		Addr: nodeAddr4(i).String() + "/24", Router: controlPlane4.String(),
	}
	if err := spec.Write(); err != nil {
		return nil, err
	}
	err := ip(ctx, nil, "tuntap add "+spec.Tap+" mode tap", fmt.Sprintf("link set %s master %s up", spec.Tap, bridge))
	if err != nil {
		return nil, err
	}
	st, err := l.sup.Start(ctx, supervise.Part{
		Name: name, Argv: []string{initArg0, "machine", name}, Env: baseEnv(),
		Log: filepath.Join(stateDir, "log", name+".log"), Self: true,
	})
	if err != nil {
		return nil, err
	}
	n := l.node(i, st.PID)
	if err := n.booted(ctx, ""); err != nil {
		return nil, err
	}
	if n.lab.Machine == "debian11" {
		if err := n.ownContainerd(); err != nil {
			return nil, err
		}
	}
	if err := n.WriteFile("/etc/containerd/config.toml", n.containerdConfig()); err != nil {
		return nil, err
	}
	if _, err := n.Exec(ctx, "sh", "-c", "systemctl daemon-reload && systemctl restart containerd"); err != nil {
		return nil, err
	}
	return n, n.runtimeReady(ctx)
}

// booted waits until the lab's agent in the machine answers, in another boot than that
// one.
func (n *Node) booted(ctx context.Context, last string) error {
	err := Eventually(ctx, bootTimeout, func(ctx context.Context) error {
		st, err := n.lab.sup.Status(ctx, n.Name)
		if err != nil {
			return err
		}
		if !st.Running {
			return fmt.Errorf("QEMU is not running: %s", st.Exit)
		}
		id, err := n.bootID(ctx)
		if err == nil && id == last {
			return errors.New("still the same boot")
		}
		return err
	})
	if err != nil {
		console, _ := os.ReadFile(filepath.Join(machineDir, n.Name+".console"))
		return fmt.Errorf("boot %s: %w\nlast lines of its console:\n%s", n.Name, err, lastLines(string(console), 8))
	}
	return nil
}

func (n *Node) bootID(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return n.Exec(ctx, "cat", "/proc/sys/kernel/random/boot_id")
}

// measure sets how much slower the slowest machine is than this host.
func (l *Lab) measure(ctx context.Context, machines []*Node) error {
	here, err := speed(exec.CommandContext(ctx, l.Bin("guest", "guest"), "speed"))
	if err != nil {
		return err
	}
	for _, n := range machines {
		there, err := speed(n.Command(ctx, n.Bin("guest", "guest"), "speed"))
		if err != nil {
			return err
		}
		l.Slow = max(l.Slow, min(mostSlow, float64(there)/float64(here)))
	}
	return l.save()
}

func speed(cmd *exec.Cmd) (int64, error) {
	out, err := output(cmd)
	if err != nil {
		return 0, fmt.Errorf("measure the machine's speed: %w", err)
	}
	return strconv.ParseInt(strings.TrimSpace(out), 10, 64)
}

// machineCommand runs this program as a client that has the command's streams, so that
// a command on a machine is used like any other.
func (n *Node) machineCommand(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = append([]string{initArg0, "exec", string(n.machine)}, argv...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func execInMachine(c machine.Client, argv []string) (code int) {
	code, err := c.Exec(context.Background(), frame.Command{Argv: argv, Env: os.Environ()}, os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 125
	}
	return code
}

// Send writes a file on a machine.
func (n *Node) Send(ctx context.Context, path string, from io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := n.Command(ctx, "sh", "-c", `mkdir -p "$(dirname "$0")" && cat > "$0.new" && mv "$0.new" "$0"`, path)
	cmd.Stdin = from
	if _, err := output(cmd); err != nil {
		return fmt.Errorf("write %s on %s: %w", path, n.Name, err)
	}
	return nil
}

// findMachine sets where the machine's disks are.
func (l *Lab) findMachine(ctx context.Context, b *build.Builder) (err error) {
	if l.Machines == 0 {
		return nil
	}
	if l.Image, err = b.MachineImage(l.Machine); err != nil {
		return err
	}
	l.Disk, err = b.PartsDisk(ctx, l.Parts)
	return err
}
