package cri

import (
	"encoding/json"
	"fmt"
	"path"
)

// maxInfo bounds what is parsed. A container's info holds its whole specification with its
// environment: only the few fields below are kept.
const maxInfo = 8 << 20

// info is what we use of the verbose part of a status, whose form differs by runtime.
// Missing fields stay empty.
type info struct {
	pid   int
	netns string
}

type verbose struct {
	PID         int64 `json:"pid"`
	RuntimeSpec *struct {
		Linux *struct {
			Namespaces []struct {
				Type string `json:"type"`
				Path string `json:"path"`
			} `json:"namespaces"`
		} `json:"linux"`
	} `json:"runtimeSpec"`
	// containerd 2 has no specification of a sandbox whose task is gone, but has this.
	SandboxMetadata *struct {
		Metadata struct {
			NetNSPath string `json:"NetNSPath"`
		} `json:"Metadata"`
	} `json:"sandboxMetadata"`
}

// parseInfo reads the verbose part of a sandbox's or a container's status.
func parseInfo(m map[string]string) (info, error) {
	text, ok := m["info"]
	if !ok || text == "" {
		return info{}, nil
	}
	if len(text) > maxInfo {
		return info{}, fmt.Errorf("info of %d bytes", len(text))
	}
	var v verbose
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return info{}, fmt.Errorf("read info: %w", err)
	}
	var out info
	if v.PID > 0 && v.PID <= 1<<22 { // the kernel's limit
		out.pid = int(v.PID)
	}
	if v.SandboxMetadata != nil {
		out.netns = absolute(v.SandboxMetadata.Metadata.NetNSPath)
	}
	if v.RuntimeSpec != nil && v.RuntimeSpec.Linux != nil {
		for _, n := range v.RuntimeSpec.Linux.Namespaces {
			if p := absolute(n.Path); n.Type == "network" && p != "" {
				out.netns = p
			}
		}
	}
	return out, nil
}

// absolute returns an absolute path of valid length, else nothing.
func absolute(p string) string {
	if !path.IsAbs(p) || len(p) > 4096 {
		return ""
	}
	return path.Clean(p)
}

// parseConfig finds the CNI directories in the configuration in containerd's status. CRI-O
// returns none.
func parseConfig(m map[string]string) (confDir string, binDirs []string, err error) {
	text := m["config"]
	if len(text) > maxInfo {
		return "", nil, fmt.Errorf("config of %d bytes", len(text))
	}
	if text == "" {
		return "", nil, nil
	}
	var v struct {
		CNI struct {
			ConfDir string   `json:"confDir"`
			BinDir  string   `json:"binDir"`
			BinDirs []string `json:"binDirs"`
		} `json:"cni"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "", nil, fmt.Errorf("read config: %w", err)
	}
	for _, d := range append(v.CNI.BinDirs, v.CNI.BinDir) {
		if d = absolute(d); d != "" {
			binDirs = append(binDirs, d)
		}
	}
	return absolute(v.CNI.ConfDir), binDirs, nil
}
