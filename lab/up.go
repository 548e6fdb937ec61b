package lab

import (
	"context"
	"fmt"
	"os"
	"time"

	"plumbline.dev/plumbline/lab/build"
)

// Create creates the empty namespaces of a lab; Up, run inside, starts the cluster. It
// is for programs that enter a lab with Enter.
func Create(ctx context.Context, name string) error {
	cmd, err := createOuter(ctx, name, false)
	if err != nil {
		return err
	}
	return cmd.Process.Release()
}

// Up starts the cluster in the lab that this process runs in.
func Up(ctx context.Context, c Config, say Progress) (*Lab, error) {
	name, ok := Inside()
	if !ok {
		return nil, ErrOutside
	}
	c.Name = name
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	b, err := build.New()
	if err != nil {
		return nil, err
	}
	paths, err := b.PathsOf(ctx, c.Calico, c.Kubernetes)
	if err != nil {
		return nil, err
	}
	if err := CheckTools(); err != nil {
		return nil, err
	}
	l := &Lab{Config: c, Parts: paths, sup: outerSocket}
	if err := l.findMachine(ctx, b); err != nil {
		return nil, err
	}
	return l, l.up(ctx, say)
}

// step runs f and reports how long it took.
func step(say Progress, name string, f func() error) error {
	say(name, 0)
	t := time.Now()
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	say(name, time.Since(t))
	return nil
}

func (l *Lab) up(ctx context.Context, say Progress) error {
	err := step(say, "keys and network", func() error {
		return together(ctx, func(context.Context) error { return l.credentials() }, createBridge)
	})
	if err != nil {
		return err
	}
	if err := l.save(); err != nil {
		return err
	}
	nodes := make([]*Node, l.Nodes+l.Machines)
	err = step(say, "control plane, container runtimes", func() error {
		work := []func(context.Context) error{l.controlPlane}
		for i := range nodes {
			create := l.createNode
			if l.isMachine(i + 1) {
				create = l.createMachine
			}
			work = append(work, func(ctx context.Context) (err error) {
				nodes[i], err = create(ctx, i+1)
				return err
			})
		}
		return together(ctx, work...)
	})
	if err != nil {
		return err
	}
	if l.ControlPlaneOnly {
		return nil
	}
	if l.Machines > 0 {
		if err := l.measure(ctx, nodes[l.Nodes:]); err != nil {
			return err
		}
	}
	err = step(say, "nodes", func() error { return forEach(ctx, nodes, l.joinNode) })
	if err != nil {
		return err
	}
	return step(say, "calico", func() error {
		// Only the first node creates the pools: two at once would both try.
		if err := nodes[0].startCalico(ctx); err != nil {
			return err
		}
		if err := forEach(ctx, nodes[1:], func(ctx context.Context, n *Node) error { return n.startCalico(ctx) }); err != nil {
			return err
		}
		if err := l.startKubeControllers(ctx); err != nil {
			return err
		}
		return forEach(ctx, nodes, func(ctx context.Context, n *Node) error { return n.felixReady(ctx) })
	})
}

func (l *Lab) controlPlane(ctx context.Context) error {
	if err := l.startEtcd(ctx); err != nil {
		return err
	}
	work := []func(context.Context) error{l.startAPIServer}
	if l.Datastore == Etcd {
		work = append(work, l.startCalicoEtcd)
	}
	if err := together(ctx, work...); err != nil {
		return err
	}
	// A control-plane-only lab only stores objects; no controller may act on them.
	if !l.ControlPlaneOnly {
		if err := l.startControllers(ctx); err != nil {
			return err
		}
	}
	return l.installCalico(ctx)
}

func (l *Lab) joinNode(ctx context.Context, n *Node) error {
	if err := n.installCNI(ctx); err != nil {
		return err
	}
	return n.join(ctx)
}

// AddNode adds a node to the running cluster.
func (l *Lab) AddNode(ctx context.Context, i int) (*Node, error) {
	n, err := l.createNode(ctx, i)
	if err != nil {
		return nil, err
	}
	if err := l.joinNode(ctx, n); err != nil {
		return nil, err
	}
	if err := n.startCalico(ctx); err != nil {
		return nil, err
	}
	return n, n.felixReady(ctx)
}

// RemoveNode removes a node permanently: its processes are stopped and its Node object
// is deleted.
func (l *Lab) RemoveNode(ctx context.Context, i int) error {
	if err := l.sup.Kill(ctx, nodeName(i)); err != nil {
		return err
	}
	_, err := l.Kubectl(ctx, "delete", "node", nodeName(i))
	return err
}

func forEach(ctx context.Context, nodes []*Node, f func(context.Context, *Node) error) error {
	var work []func(context.Context) error
	for _, n := range nodes {
		work = append(work, func(ctx context.Context) error {
			if err := f(ctx, n); err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
			return nil
		})
	}
	return together(ctx, work...)
}

// CheckTools checks that the Debian packages that a node needs are installed.
func CheckTools() error {
	for tool, pkg := range map[string]string{
		"/usr/bin/containerd": "containerd", "/usr/sbin/runc": "runc", "/usr/sbin/iptables": "iptables", "/usr/sbin/ipset": "ipset",
		"/usr/sbin/conntrack": "conntrack", "/usr/sbin/nft": "nftables", "/usr/bin/curl": "curl", "/usr/bin/nsenter": "util-linux",
	} {
		if _, err := os.Stat(tool); err != nil {
			return fmt.Errorf("%s is missing; run: apt-get install %s", tool, pkg)
		}
	}
	return nil
}
