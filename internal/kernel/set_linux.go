package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
)

// A Setting is a sysctl of a pod's host interface.
type Setting struct {
	Device string `json:"device"`
	Index  int    `json:"index"`
	Key    string `json:"key"`
	IPv6   bool   `json:"ipv6,omitempty"`
	Value  string `json:"value"`
}

// Sysctls that may be set: those that Felix sets only once, when an interface comes up.
// Packet filtering is not among them.
var settable = map[bool][]string{
	false: {"proxy_arp", "forwarding", "route_localnet"},
	true:  {"proxy_ndp", "forwarding"},
}

func (v *Setting) path(base string) string {
	family := "ipv4"
	if v.IPv6 {
		family = "ipv6"
	}
	return base + "/sys/net/" + family + "/conf/" + v.Device + "/" + v.Key
}

// ReadSetting returns a sysctl of an interface; nil if the interface does not exist.
func ReadSetting(ctx context.Context, o Options, device, key string, ipv6 bool) (*Setting, error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return nil, err
	}
	if !calicos(device) || !slices.Contains(settable[ipv6], key) {
		return nil, fmt.Errorf("%s of %s is not a sysctl that Plumbline sets", key, device)
	}
	v := &Setting{Device: device, Key: key, IPv6: ipv6}
	err := asking(func(s *rtnl.Socket) (err error) {
		v.Index, err = indexOf(ctx, s, device)
		return err
	})
	if err != nil || v.Index == 0 {
		return nil, err
	}
	v.Value, err = setting(v.path(o.Proc))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return v, err
}

func indexOf(ctx context.Context, s *rtnl.Socket, device string) (int, error) {
	devices, err := s.Links(ctx, maxRows)
	if err != nil {
		return 0, fmt.Errorf("list the interfaces: %w", err)
	}
	for _, d := range devices {
		if d.Name == device {
			return d.Index, nil
		}
	}
	return 0, nil
}

// Set writes a sysctl. The file is opened before the interface's index is compared: once
// the interface is removed the file has no effect, so a new interface of that name is never
// written to.
func Set(ctx context.Context, o Options, want Setting, value string, check func(context.Context) error, dry bool) (begun bool, err error) {
	o = o.withDefaults()
	if value != "0" && value != "1" {
		return false, fmt.Errorf("%.20q is not a valid value: use 0 or 1", value)
	}
	// Checked before its path is opened: the name must be one of Calico's.
	if _, err := ReadSetting(ctx, o, want.Device, want.Key, want.IPv6); err != nil {
		return false, err
	}
	if err := check(ctx); err != nil {
		return false, err
	}
	// In a container our own /proc/sys is read-only; the host's is not, and belongs to the
	// network namespace of the process that opens it.
	f, err := os.OpenFile(want.path(o.Root+"/proc"), os.O_WRONLY, 0)
	if err != nil {
		return false, fmt.Errorf("open a setting: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := unchanged(ctx, o, want); err != nil || dry {
		return false, err
	}
	if _, err := f.WriteString(value); err != nil {
		return false, fmt.Errorf("set %s of %s: %w", want.Key, want.Device, err)
	}
	now, err := ReadSetting(ctx, o, want.Device, want.Key, want.IPv6)
	if err == nil && (now == nil || now.Index != want.Index || now.Value != value) {
		err = errors.New("it does not have the written value")
	}
	if err != nil {
		return true, fmt.Errorf("reread %s of %s: %w", want.Key, want.Device, err)
	}
	return true, nil
}

// unchanged verifies that a sysctl still is what it was.
func unchanged(ctx context.Context, o Options, want Setting) error {
	now, err := ReadSetting(ctx, o, want.Device, want.Key, want.IPv6)
	switch {
	case err != nil:
		return err
	case now == nil:
		return fmt.Errorf("%s of %s: %w", want.Key, want.Device, ErrGone)
	case *now != want:
		return fmt.Errorf("%s of %s has changed", want.Key, want.Device)
	}
	return nil
}
