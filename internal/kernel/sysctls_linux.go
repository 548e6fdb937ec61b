package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// settings are the sysctls of a pod's host interface that its connectivity depends on.
var settings = []struct {
	family string
	keys   []string
}{
	{"ipv4", []string{"proxy_arp", "forwarding", "rp_filter", "route_localnet"}},
	{"ipv6", []string{"forwarding", "force_forwarding", "proxy_ndp"}},
}

// maxUplinks is how many interfaces of the host itself are read: those to other nodes are few.
const maxUplinks = 64

// readSysctls reads the sysctls of the interfaces whose peer is in another namespace, and of those
// to other nodes.
// procfs shows those of the reader's own network namespace, which is the host's.
func readSysctls(ctx context.Context, o Options, f *model.NodeState) error {
	return asking(func(s *rtnl.Socket) error {
		all, err := deviceSettings(o.Proc, "all") // some apply to every interface
		if err != nil {
			return err
		}
		f.Sysctls = all
		devices, err := s.Links(ctx, maxRows)
		uplinks := 0
		for _, d := range devices {
			if !fileName(d.Name) {
				continue
			}
			if !d.Away {
				if !d.Up || d.Loopback || uplinks == maxUplinks {
					continue
				}
				uplinks++
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, err := deviceSettings(o.Proc, d.Name)
			f.Sysctls = append(f.Sysctls, rows...)
			if err != nil {
				return fmt.Errorf("%w: %w", rtnl.ErrPartial, err)
			}
		}
		return err
	})
}

// fileName verifies that an interface name is a single path element, as the kernel
// guarantees.
func fileName(s string) bool { return s != "" && s != "." && s != ".." && !strings.Contains(s, "/") }

// deviceSettings returns no row for a removed interface, nor for a family that the kernel
// does not have.
func deviceSettings(proc, device string) ([]model.Sysctl, error) {
	var rows []model.Sysctl
	for _, group := range settings {
		for _, key := range group.keys {
			value, err := setting(proc + "/sys/net/" + group.family + "/conf/" + device + "/" + key)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return rows, fmt.Errorf("read a setting: %w", err)
			}
			rows = append(rows, model.Sysctl{Device: device, Key: key, IPv6: group.family == "ipv6", Value: value})
		}
	}
	return rows, nil
}

// maxSetting is more than any number takes.
const maxSetting = 64

func setting(path string) (string, error) {
	b, err := hostfile.Read(path, maxSetting)
	return strings.TrimSpace(string(b)), err
}
