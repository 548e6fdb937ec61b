package lab

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Host is the state that a lab could have changed on the machine that it runs on: kernel settings,
// interfaces, addresses, routes, firewall, mounts, namespaces. Comparing two shows
// whether it changed anything.
type Host map[string]string

// These change by themselves.
var restless = regexp.MustCompile(`^(kernel/random/|kernel/ns_last_pid|kernel/pty/nr|kernel/perf_event_max|fs/(dentry-state|file-nr|inode-nr|inode-state|aio-nr|quota/)|net/netfilter/nf_conntrack_count|kernel/sched_domain|vm/stat_refresh|vm/drop_caches|vm/compact_memory|net/ipv[46]/route/flush|debug/)`)

// LookAtHost reads the state, including namespaces of running labs.
func LookAtHost(ctx context.Context) (Host, error) {
	m := Host{}
	root := "/proc/sys"
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // some files are not readable, not even for root
		}
		name, _ := filepath.Rel(root, p)
		if st, err := d.Info(); err != nil || st.Mode().Perm()&0o444 == 0 || restless.MatchString(name) {
			return nil //nolint:nilerr // see above
		}
		if b, err := os.ReadFile(p); err == nil {
			m["sysctl "+name] = string(b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, cmd := range []string{"ip -o link", "ip -o addr", "ip route show table all", "ip -6 route show table all", "ip rule", "ip netns list", "nft list ruleset", "iptables-save", "ipset list -n"} {
		argv := strings.Fields(cmd)
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cmd, err)
		}
		m[cmd] = stamps.ReplaceAllString(string(out), "")
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	m["mounts"] = string(mounts)
	for ns := range namespaces() {
		m["namespace "+ns] = "there"
	}
	return m, nil
}

// Times, counters and expiries in the output of tools.
var stamps = regexp.MustCompile(`(?m)^#.*$|\[\d+:\d+\]|expires \d+sec|(valid|preferred)_lft \d+sec`)

func namespaces() map[string]bool {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	out := map[string]bool{}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil {
			out[to] = true
		}
	}
	return out
}

// Differences lists what differs from before.
func (m Host) Differences(before Host) []string {
	var out []string
	for k, v := range m {
		if was, ok := before[k]; !ok {
			out = append(out, k+" is new")
		} else if was != v {
			out = append(out, fmt.Sprintf("%s was %q and is %q", k, was, v))
		}
	}
	for k := range before {
		// A namespace that is gone belonged to another process.
		if _, ok := m[k]; !ok && !strings.HasPrefix(k, "namespace ") {
			out = append(out, k+" is gone")
		}
	}
	slices.Sort(out)
	return out
}
