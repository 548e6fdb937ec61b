package host

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A plugin is what we use of an entry; other fields may be secret.
type plugin struct {
	Type      string  `json:"type"`
	NodeName  string  `json:"nodename"`
	Datastore string  `json:"datastore_type"`
	Endpoints string  `json:"etcd_endpoints"`
	Delegate  *plugin `json:"delegate"` // of our guard: the entry that it stands before
	IPAM      struct {
		Type string `json:"type"`
	} `json:"ipam"`
	Kubernetes struct {
		Kubeconfig string `json:"kubeconfig"`
	} `json:"kubernetes"`
}

// calico returns Calico's entry: this one, or its delegate.
func (p *plugin) calico() *plugin {
	if p.Type == "calico" {
		return p
	}
	if p.Delegate != nil && p.Delegate.Type == "calico" {
		return p.Delegate
	}
	return nil
}

// datastore is Calico's datastore by the entry; empty if it names none.
func (p *plugin) datastore() string {
	switch {
	case p.Datastore == "kubernetes":
		return "kdd"
	case strings.HasPrefix(p.Datastore, "etcd"), p.Datastore == "" && p.Endpoints != "":
		return "etcd"
	default:
		return ""
	}
}

// parseConfig reads a network configuration: a list of plugins, or a single one. kubeconfig is the
// file that Calico's plugin authenticates with.
func parseConfig(b []byte, list bool) (out model.CNIConfig, kubeconfig string, err error) {
	var conf struct {
		Name    string   `json:"name"`
		Plugins []plugin `json:"plugins"`
		plugin
	}
	if err := json.Unmarshal(b, &conf); err != nil {
		return model.CNIConfig{}, "", err
	}
	if !list {
		conf.Plugins = []plugin{conf.plugin}
	}
	out = model.CNIConfig{Network: conf.Name}
	found := false
	for i := range conf.Plugins {
		p := &conf.Plugins[i]
		out.Plugins = append(out.Plugins, p.Type)
		if c := p.calico(); c != nil && !found {
			out.NodeName, out.IPAM, kubeconfig, found = c.NodeName, c.IPAM.Type, c.Kubernetes.Kubeconfig, true
			if out.Datastore = c.datastore(); out.Datastore == "etcd" {
				out.Endpoints = model.EtcdEndpoints(strings.Split(c.Endpoints, ","))
			}
		}
	}
	if !found && len(conf.Plugins) > 0 {
		out.IPAM = conf.Plugins[0].IPAM.Type
	}
	switch {
	case len(conf.Plugins) == 0:
		return out, "", errors.New("no plugins")
	case out.Plugins[0] == "":
		return out, "", errors.New("a plugin without a type")
	case list && conf.Name == "":
		return out, "", errors.New("no name")
	}
	return out, kubeconfig, nil
}

// parseResult reads a cached result of libcni. Older ones are the bare result, and only the
// file's name identifies the attachment.
func parseResult(file string, b []byte) (model.CNIResult, error) {
	type result struct {
		IPs []struct {
			Address string `json:"address"`
		} `json:"ips"`
		IP4, IP6 struct {
			IP string `json:"ip"`
		}
	}
	var r struct {
		Network   string  `json:"networkName"`
		Container string  `json:"containerId"`
		Interface string  `json:"ifName"`
		Result    *result `json:"result"`
		result
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return model.CNIResult{}, err
	}
	out := model.CNIResult{Network: r.Network, Container: r.Container, Interface: r.Interface}
	if out.Container == "" {
		out.Network, out.Container, out.Interface = parseResultName(file)
	}
	if out.Container == "" {
		return out, errors.New("it does not identify its attachment")
	}
	from := r.result
	if r.Result != nil {
		from = *r.Result
	}
	addresses := []string{from.IP4.IP, from.IP6.IP}
	for _, ip := range from.IPs {
		addresses = append(addresses, ip.Address)
	}
	for _, a := range addresses {
		if p, ok := prefix(a); ok {
			out.IPs = append(out.IPs, p)
		}
	}
	return out, nil
}

// parseResultName splits NETWORK-CONTAINER-INTERFACE: a network name may contain dashes.
func parseResultName(file string) (network, container, iface string) {
	i := strings.LastIndexByte(file, '-')
	if i < 0 {
		return "", "", ""
	}
	j := strings.LastIndexByte(file[:i], '-')
	if j < 0 {
		return "", "", ""
	}
	return file[:j], file[j+1 : i], file[i+1:]
}

func prefix(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}
