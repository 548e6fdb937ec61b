package host

import (
	"encoding/json"
	"path"

	"plumbline.dev/plumbline/internal/model"
)

// Multus sets up pods by other configurations: those in its own, and those of the files that
// the network plugin of the cluster writes into a directory of Multus, as on OpenShift.
const (
	multusDir    = "/run/multus/cni/net.d"
	maxDelegates = 64
)

// multus reads the configurations to which the one in a file delegates.
func (h *Host) multus(file string) []model.CNIConfig {
	var out []model.CNIConfig
	if b, err := h.content(file, maxJSON); err == nil {
		out = parseDelegates(path.Base(file), b)
	}
	names, _ := h.files(multusDir, maxConfigs, isConfig) // it mostly does not exist
	for _, c := range h.configs(multusDir, names) {
		c.File = path.Join(multusDir, c.File)
		out = append(out, c)
	}
	return out
}

// parseDelegates reads the delegates in a configuration of Multus. Their rows have the name of
// its file and their network.
func parseDelegates(file string, b []byte) []model.CNIConfig {
	type conf struct {
		Delegates []json.RawMessage `json:"delegates"`
	}
	var list struct {
		conf
		Plugins []conf `json:"plugins"`
	}
	if json.Unmarshal(b, &list) != nil {
		return nil
	}
	all := list.Delegates
	for _, p := range list.Plugins {
		all = append(all, p.Delegates...)
	}
	var out []model.CNIConfig
	for _, text := range all[:min(len(all), maxDelegates)] {
		var is struct {
			Plugins []json.RawMessage `json:"plugins"`
		}
		c, err := model.CNIConfig{}, json.Unmarshal(text, &is)
		if err == nil {
			c, _, err = parseConfig(text, len(is.Plugins) > 0)
		}
		if err != nil {
			c.Error = plain(err)
		}
		c.File = file + ": " + c.Network
		out = append(out, c)
	}
	return out
}
