package cri

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/internal/observe"
)

// Networking is the runtime's state of pod networks.
type Networking struct {
	ConfDir  string
	BinDirs  []string
	Networks []Network // loaded networks, including loopback
	Trouble  string    // error of the last load
}

// A Network is a loaded network. Its configuration may hold credentials: only this is kept.
type Network struct {
	Name   string
	IfName string   // of its interface in a pod
	Types  []string // of its plugins, in order
}

// statusPatience is for one verbose status, which may take longer.
const statusPatience = 5 * time.Second

// Networking asks the runtime for its CNI directories and loaded networks. ErrNotThere:
// this runtime does not report them.
func (c *Client) Networking(ctx context.Context) (Networking, error) {
	if c.bad != nil {
		return Networking{}, c.bad
	}
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	a, err := c.api.Status(ctx, &runtime.StatusRequest{Verbose: true})
	if err != nil {
		return Networking{}, fmt.Errorf("ask the runtime for its networks: %w", plain(err))
	}
	n, err := parseNetworking(a.GetInfo())
	if err != nil {
		return Networking{}, fmt.Errorf("ask the runtime for its networks: %w", err)
	}
	return n, nil
}

// parseNetworking reads the verbose part of containerd's status.
func parseNetworking(m map[string]string) (n Networking, err error) {
	if n.ConfDir, n.BinDirs, err = parseConfig(m); err != nil {
		return Networking{}, err
	}
	text, told := m["cniconfig"]
	if !told || n.ConfDir == "" || len(n.BinDirs) == 0 {
		return Networking{}, observe.ErrNotThere
	}
	if n.Networks, err = parseNetworks(text); err != nil {
		return Networking{}, err
	}
	if s := m["lastCNILoadStatus"]; s != "OK" {
		n.Trouble = clean(s)
	}
	return n, nil
}

// Bounds of what is accepted from a runtime.
const (
	maxNetworks = 64
	maxPlugins  = 64
	maxWord     = 253
)

func parseNetworks(text string) ([]Network, error) {
	if len(text) > maxInfo {
		return nil, fmt.Errorf("cniconfig of %d bytes", len(text))
	}
	var v struct {
		Networks []*struct {
			Config *struct {
				Name    string
				Plugins []*struct {
					Network *struct {
						Type string `json:"type"`
					}
				}
			}
			IFName string
		}
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, errors.New("read cniconfig: unexpected format") // the decoder's error may quote the content
	}
	if len(v.Networks) > maxNetworks {
		return nil, fmt.Errorf("cniconfig has %d networks", len(v.Networks))
	}
	var out []Network
	for _, each := range v.Networks {
		if each == nil || each.Config == nil || len(each.Config.Name) > maxWord || len(each.IFName) > maxWord || len(each.Config.Plugins) > maxPlugins {
			return nil, errors.New("read cniconfig: a network has an unexpected format")
		}
		n := Network{Name: each.Config.Name, IfName: each.IFName}
		for _, p := range each.Config.Plugins {
			if p == nil || p.Network == nil || p.Network.Type == "" || len(p.Network.Type) > maxWord {
				return nil, errors.New("read cniconfig: a plugin has no type")
			}
			n.Types = append(n.Types, p.Network.Type)
		}
		out = append(out, n)
	}
	return out, nil
}
