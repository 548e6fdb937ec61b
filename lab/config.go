// Package lab runs a real multi-node Kubernetes with real Calico on one machine, inside
// namespaces that cannot be reached from outside. The product is tested on it; the lab
// imports nothing of the product.
package lab

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plumbline.dev/plumbline/lab/build"
)

// Datastore is Calico's datastore.
type Datastore string

// The two datastores that Calico supports.
const (
	KDD  Datastore = "kdd"  // custom resources in the Kubernetes API
	Etcd Datastore = "etcd" // a separate etcd for Calico
)

// The container runtimes that a node can run.
const (
	ContainerdDebian = "debian" // 1.6, Debian's package
	Containerd22     = "2.2"
)

// Config describes a lab. The zero value of a field means its default.
type Config struct {
	Name             string    `json:"name"`
	Nodes            int       `json:"nodes"`
	Datastore        Datastore `json:"datastore"`
	ControlPlaneOnly bool      `json:"controlPlaneOnly"`
	DualStack        bool      `json:"dualStack"`
	BlockSize        int       `json:"blockSize"` // of the IPv4 pool
	Containerd       string    `json:"containerd"`
	Calico           string    `json:"calico"`     // its version, as v3.31.0 or 3.31
	Kubernetes       string    `json:"kubernetes"` // its version, as v1.34.4 or 1.34
	Machines         int       `json:"machines"`   // further nodes that are emulated machines
	Machine          string    `json:"machine"`    // one of build.Machines
	Layout           string    `json:"layout"`     // of nodes that are no machines: kubeadm or k3s
}

// DefaultName is the lab's name if a command has no --name.
const DefaultName = "lab"

// A lab's name is part of cgroup names and of command lines.
var nameOK = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,29}[a-z0-9])?$`)

// maxNodes keeps node addresses inside one /24, beside the control plane's address.
const maxNodes = 200

// maxMachines keeps an emulated cluster usable: each idle machine takes half a core.
const maxMachines = 4

// WithDefaults sets defaults and refuses a configuration that cannot be built.
func (c Config) WithDefaults() (Config, error) {
	if c.Name == "" {
		c.Name = DefaultName
	}
	if c.Nodes == 0 && !c.ControlPlaneOnly {
		c.Nodes = 2
		if c.Machines > 0 {
			c.Nodes = 1 // beside machines, two cores carry no more
		}
	}
	if c.Machine == "" {
		c.Machine = "debian12"
	}
	if c.Datastore == "" {
		c.Datastore = KDD
	}
	if c.BlockSize == 0 {
		c.BlockSize = 26
	}
	if c.Containerd == "" {
		c.Containerd = ContainerdDebian
	}
	if c.Layout == "" {
		c.Layout = LayoutKubeadm
	}
	var err error
	if c.Calico, err = build.Version(build.CalicoVersions, c.Calico); err != nil {
		return c, fmt.Errorf("calico %w", err)
	}
	if c.Kubernetes, err = build.Version(build.KubernetesVersions, c.Kubernetes); err != nil {
		return c, fmt.Errorf("kubernetes %w", err)
	}
	switch {
	case layouts[c.Layout].socket == "":
		return c, fmt.Errorf("layout %q: want %s or %s", c.Layout, LayoutKubeadm, LayoutK3s)
	case !nameOK.MatchString(c.Name):
		return c, fmt.Errorf("name %q: want lower-case letters, digits and dashes, at most 31", c.Name)
	case c.ControlPlaneOnly && c.Nodes+c.Machines != 0:
		return c, errors.New("a control-plane-only lab has no nodes")
	case c.Nodes < 0 || c.Nodes > maxNodes:
		return c, fmt.Errorf("%d nodes: want 1 to %d", c.Nodes, maxNodes)
	case c.Machines < 0 || c.Machines > maxMachines:
		return c, fmt.Errorf("%d machines: want 0 to %d", c.Machines, maxMachines)
	case !slices.Contains(build.Machines(), c.Machine):
		return c, fmt.Errorf("machine %q: want one of %s", c.Machine, strings.Join(build.Machines(), ", "))
	case c.Machines > 0 && c.DualStack:
		return c, errors.New("machines have no IPv6 addresses: not with --dual-stack")
	case c.Datastore != KDD && c.Datastore != Etcd:
		return c, fmt.Errorf("datastore %q: want %s or %s", c.Datastore, KDD, Etcd)
	case c.BlockSize < 20 || c.BlockSize > 32:
		return c, fmt.Errorf("block size %d: Calico accepts 20 to 32", c.BlockSize)
	case c.Containerd != ContainerdDebian && c.Containerd != Containerd22:
		return c, fmt.Errorf("containerd %q: want %s or %s", c.Containerd, ContainerdDebian, Containerd22)
	}
	return c, nil
}
