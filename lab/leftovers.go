package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// Leftovers lists everything of a lab that is visible on the machine while no lab runs:
// processes, cgroups, mounts, interfaces, named namespaces, firewall rules. The list
// must be empty. (On a machine that runs Calico itself, Calico is listed too.)
func Leftovers(ctx context.Context) ([]string, error) {
	var out []string
	labs, err := Running()
	if err != nil {
		return nil, err
	}
	for name := range labs {
		out = append(out, "lab: "+name)
	}
	for _, c := range cgroupsLeft() {
		out = append(out, "cgroup: "+c)
	}
	procs, err := strayProcesses()
	if err != nil {
		return nil, err
	}
	out = append(out, procs...)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, "plumbline-lab") || strings.Contains(line, " - fuse.hangfs ") || strings.Contains(line, "/containerd/io.containerd.") {
			out = append(out, "mount: "+strings.TrimSpace(line))
		}
	}
	links, err := exec.CommandContext(ctx, "ip", "-j", "link").Output()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	var devices []struct{ Ifname string }
	if err := json.Unmarshal(links, &devices); err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	for _, d := range devices {
		if ours.MatchString(d.Ifname) {
			out = append(out, "device: "+d.Ifname)
		}
	}
	for _, dir := range []string{"/run/netns", "/var/run/netns"} {
		names, _ := filepath.Glob(filepath.Join(dir, "cni-*"))
		for _, n := range names {
			out = append(out, "namespace: "+n)
		}
	}
	rules, err := exec.CommandContext(ctx, "nft", "list", "ruleset").Output()
	if err != nil {
		return nil, fmt.Errorf("list firewall rules: %w", err)
	}
	for line := range strings.Lines(string(rules)) {
		if strings.Contains(line, "cali-") || strings.Contains(line, "kube-proxy") {
			out = append(out, "firewall: "+strings.TrimSpace(line))
		}
	}
	sort.Strings(out)
	return out, nil
}

var ours = regexp.MustCompile(`^(lab0|port[0-9]+|cali[0-9a-f]{11}|vxlan\.calico)$`)

// strayProcesses finds processes that run from the lab's cache, are the first process of
// a node or lab, or are in a cgroup of a lab.
func strayProcesses() ([]string, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range dirs {
		exe, _ := os.Readlink(filepath.Join(d, "exe"))
		cmd, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		name, _, _ := strings.Cut(string(cmd), "\x00")
		cgroups, _ := os.ReadFile(filepath.Join(d, "cgroup"))
		// QEMU is the distribution's; its disks are the lab's.
		if strings.Contains(exe, "/plumbline/lab/") || (strings.HasPrefix(filepath.Base(exe), "qemu-system") && strings.Contains(string(cmd), "/plumbline/lab/")) || name == initArg0 || strings.Contains(string(cgroups), "/"+cgroupName("")) {
			out = append(out, fmt.Sprintf("process: %s %s", filepath.Base(d), strings.ReplaceAll(string(cmd), "\x00", " ")))
		}
	}
	return out, nil
}
