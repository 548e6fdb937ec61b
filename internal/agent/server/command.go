package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/logformat"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// An Env is what the program gets from its process.
type Env struct {
	Args           []string
	Stdout, Stderr io.Writer
	Hostname       func() (string, error)
	Getenv         func(string) string
	// Connect returns what asks the API server about tokens, and the Lease of the agent of a node
	// there; also is another address of it.
	Connect func(node, also string) (door.Reviewer, Lease, error)
}

const usage = `Plumbline's agent: reads the kernel and container runtime state of one node.

  plumbline-agent serve     keep the node's tables current and answer authorized callers
  plumbline-agent snapshot  print the current state of the node and exit
  plumbline-agent healthy   wait until the agent at --host answers, and exit

It changes nothing by itself, and nothing at all without --repair. plumbline check, explain,
status and apply ask it through the API server; root on the node asks it directly:

  curl --unix-socket /run/plumbline/agent.sock http://node/v1/digest

Flags:
`

// flags are the command line flags.
type flags struct {
	node, root, proc, socket, unix, record, cniConfig string
	listen, host, metrics                             string
	text, repair                                      bool
	format                                            logformat.Format
	logs                                              []LogPlace
	masks                                             []*regexp.Regexp
}

// Main runs the command and returns its exit code.
func Main(ctx context.Context, e Env) int {
	if err := run(ctx, e); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(e.Stderr, "plumbline-agent:", err)
		}
		return 2
	}
	return 0
}

func run(ctx context.Context, e Env) error {
	verb, args := "", e.Args[1:]
	if len(args) > 0 && (args[0] == "serve" || args[0] == "snapshot" || args[0] == "healthy" || args[0] == "version") {
		verb, args = args[0], args[1:]
	}
	var f flags
	set := flag.NewFlagSet("plumbline-agent", flag.ContinueOnError)
	set.SetOutput(e.Stderr)
	set.Usage = func() {
		fmt.Fprint(e.Stderr, usage)
		set.PrintDefaults()
	}
	set.StringVar(&f.node, "node", e.Getenv("NODE_NAME"), "node name in Kubernetes; default: $NODE_NAME, then the host name")
	set.StringVar(&f.root, "root", "/", "path of the node's root file system; in a container with hostPID: /proc/1/root")
	set.StringVar(&f.proc, "proc", "/proc", "procfs with the node's PIDs")
	set.StringVar(&f.socket, "socket", "", "socket of the container runtime below --root; default: that of the kubelet, then the only existing one of the usual sockets")
	set.StringVar(&f.cniConfig, "cni-config-dir", "", "directory of the CNI configurations below --root; default: asked of the container runtime")
	set.StringVar(&f.unix, "unix", "/run/plumbline/agent.sock", "socket for root on the node; empty for none")
	set.StringVar(&f.record, "event-log", "", "directory of the node's event log; empty for none")
	set.Func("record", "removed: use --event-log", func(string) error { return errors.New("removed: use --event-log") })
	set.StringVar(&f.listen, "listen", ":"+strconv.Itoa(agent.Port), "address to listen on")
	set.StringVar(&f.metrics, "metrics", "", "address on which it serves metrics to everybody, over HTTP; empty for none")
	set.StringVar(&f.host, "host", "127.0.0.1", "healthy: the address of the agent; its port is that of --listen")
	set.Func("log", "also serve lines of these log files: cni=, kubelet= or containerd=/DIRECTORY/PATTERN; may be repeated", func(text string) error {
		p, err := parseLogPlace(text)
		f.logs = append(f.logs, p)
		return err
	})
	set.Func("mask", "also mask what this regular expression matches in lines of logs; may be repeated", func(text string) error {
		re, err := regexp.Compile(text)
		f.masks = append(f.masks, re)
		return err
	})
	set.BoolVar(&f.repair, "repair", false, "serve: also make changes on the node, one at a time, for authorized callers; otherwise the agent only reads")
	set.BoolVar(&f.text, "text", false, "snapshot: readable lines instead of an archive")
	logformat.Var(set, &f.format)
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 || verb == "" {
		set.Usage()
		return flag.ErrHelp
	}
	if f.node == "" {
		var err error
		if f.node, err = e.Hostname(); err != nil {
			return err
		}
	}
	switch verb {
	case "version":
		_, err := fmt.Fprintln(e.Stdout, "plumbline-agent "+buildinfo.Read().Version)
		return err
	case "snapshot":
		return snapshot(ctx, e, f)
	case "healthy":
		return healthy(ctx, e, f)
	default:
		return serveNode(ctx, e, f)
	}
}

// snapshot prints the node's bundle. It reads the node twice, because a hanging process or
// mount shows only in two reads.
func snapshot(ctx context.Context, e Env, f flags) error {
	n := open(f)
	defer n.close()
	_ = snapshotOf(ctx, f.node, buildinfo.Read().Version, now(), n.collectors...)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(twoLooks):
	}
	s := snapshotOf(ctx, f.node, buildinfo.Read().Version, now(), n.collectors...)
	if !f.text {
		return snapshotio.WriteBundle(e.Stdout, s)
	}
	text, err := (&snapshotio.Case{Snapshot: s}).Text()
	if err != nil {
		return err
	}
	_, err = e.Stdout.Write(text)
	return err
}

// twoLooks is the time between the two reads.
const twoLooks = 2500 * time.Millisecond

func serveNode(ctx context.Context, e Env, f flags) error {
	log := f.format.Logger(e.Stderr)
	n := open(f)
	defer n.close()
	review, lease, err := e.Connect(f.node, n.server)
	if err != nil {
		return fmt.Errorf("connect to the API server, which authorizes callers: %w", err)
	}
	n.collectors = append(n.collectors, newDelWatch(f.root, f.logs, now, n.kubelet).collector())
	s := New(Config{
		Node: f.node, Version: buildinfo.Read().Version, Collectors: n.collectors, Watch: n.watch,
		Kernel: n.kernel, Process: n.process, Calls: n.calls, Lock: n.lock, Writer: n.writer,
		Review: review, Lease: lease, Record: f.record, Logs: Logs{Root: f.root, Places: f.logs, Masks: f.masks}, Log: log, Now: now,
	})
	lc := net.ListenConfig{Control: forgetLostCallers}
	l, err := lc.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return err
	}
	numbers, err := listenTo(ctx, f.metrics)
	if err != nil { // a port that something else has must not keep the agent from its work
		log.Error("metrics are not served", "error", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	listeners := []func() error{
		func() error { return s.Listen(ctx, l) },
		func() error {
			if f.unix == "" {
				return nil
			}
			return s.ListenUnix(ctx, filepath.Clean(f.unix))
		},
		func() error {
			if numbers == nil {
				return nil
			}
			return s.ListenMetrics(ctx, numbers)
		},
	}
	done := make(chan struct{}, len(listeners))
	for _, listen := range listeners {
		go func() {
			if err := listen(); err != nil {
				cancel(err)
			}
			done <- struct{}{}
		}()
	}
	log.Info("agent started", "node", f.node, "address", l.Addr().String(), "version", buildinfo.Read().Version)
	s.Run(ctx)
	for range listeners {
		<-done
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func now() time.Time { return time.Now() } //nolint:forbidigo // the agent is where the node's clock is read
