package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// A CNICall is a call of the network plugin by a container runtime.
type CNICall struct {
	Command     string // ADD or DEL
	ContainerID string
	NetNS       string // a path on the node; empty for a DEL without a namespace
	Namespace   string
	Pod         string
}

// CNI calls the node's first network plugin with the node's own configuration, as the
// runtime does.
func (n *Node) CNI(ctx context.Context, c CNICall) (string, error) {
	text, err := n.Exec(ctx, "cat", n.cniFile())
	if err != nil {
		return "", fmt.Errorf("read the CNI configuration of %s: %w", n.Name, err)
	}
	var list struct {
		Name, CNIVersion string
		Plugins          []map[string]any
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Plugins) == 0 {
		return "", fmt.Errorf("read the CNI configuration of %s: %d plugins, %w", n.Name, len(list.Plugins), err)
	}
	conf := list.Plugins[0]
	conf["name"], conf["cniVersion"] = list.Name, list.CNIVersion
	stdin, err := json.Marshal(conf)
	if err != nil {
		return "", err
	}
	cmd := n.Command(ctx, fmt.Sprint("/opt/cni/bin/", conf["type"]))
	cmd.Stdin = strings.NewReader(string(stdin))
	cmd.Env = append(baseEnv(), "CNI_COMMAND="+c.Command, "CNI_CONTAINERID="+c.ContainerID, "CNI_NETNS="+c.NetNS, "CNI_IFNAME=eth0", "CNI_PATH=/opt/cni/bin",
		fmt.Sprintf("CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;K8S_POD_INFRA_CONTAINER_ID=%s", c.Namespace, c.Pod, c.ContainerID))
	out, err := output(cmd)
	if err != nil {
		return out, fmt.Errorf("%w: %s", err, out) // a plugin prints its error to stdout
	}
	return out, nil
}

// CNIConfig is the path of the node's network configuration.
func (n *Node) CNIConfig() string { return n.Path(n.cniFile()) }

// CNIDirs returns the paths, outside the node, of its plugins, its network
// configurations and the runtime's cache of results.
func (n *Node) CNIDirs() (plugins, config, results string) {
	return n.Path("/opt/cni/bin"), n.Path(n.layout().cniDir), n.Path("/var/lib/cni")
}
