package build

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// suites are the Debians that a machine of the lab can run, by the name of the machine.
var suites = map[string]string{"debian11": "bullseye", "debian12": "bookworm", "debian13": "trixie", newest: "trixie"}

// newest is Debian 13 with the kernel of sid, which cannot be installed by itself.
const newest = "debian13-sid"

// Machines lists them.
func Machines() []string { return []string{"debian11", "debian12", "debian13", newest} }

// kernel is the distribution's own.
const kernel = "linux-image-cloud-amd64"

// packages of a node, beside its kernel and what is always there.
const packages = "systemd,systemd-sysv,udev,dbus,kmod,iproute2,iptables,ipset,conntrack,nftables,containerd,runc," +
	"procps,util-linux,ca-certificates,curl,wireguard-tools,nfs-common,initramfs-tools"

// ErrNoMachine means that a machine's root file system is not in the cache.
var ErrNoMachine = errors.New("the machine is not built")

// MachineImage is the directory with a machine's kernel, initrd, disk and list of
// packages.
func (b *Builder) MachineImage(machine string) (string, error) {
	recipe, err := b.recipe(machine)
	if err != nil {
		return "", err
	}
	dirs, err := filepath.Glob(filepath.Join(b.Cache, machine+"-"+recipe+"-*"))
	if err != nil || len(dirs) == 0 {
		return "", fmt.Errorf("%w; run: lab build --machine %s", ErrNoMachine, machine)
	}
	return dirs[len(dirs)-1], nil
}

// recipe is the key of what a root file system is made from. The packages' versions are
// known only when it is made; they are a second part of the directory's name.
func (b *Builder) recipe(machine string) (string, error) {
	suite, ok := suites[machine]
	if !ok {
		return "", fmt.Errorf("machine %q: want one of %s", machine, strings.Join(Machines(), ", "))
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n", suite, packages)
	for _, in := range []string{"lab/build/debian", "lab/build/debian.go"} {
		if err := b.hash(h, in); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:4]), nil
}

// BuildMachine makes the machine's root file system unless it is in the cache. It needs
// root, and a Debian mirror.
func (b *Builder) BuildMachine(ctx context.Context, machine string) (cached bool, err error) {
	if _, err := b.MachineImage(machine); err == nil || !errors.Is(err, ErrNoMachine) {
		return err == nil, err
	}
	recipe, err := b.recipe(machine)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp(b.Cache, "."+machine+"-*")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	root := filepath.Join(tmp, "root")
	for _, argv := range [][]string{
		{"debootstrap", "--variant=minbase", "--include=" + packages, suites[machine], root, mirror()},
		installKernel(machine, root),
		{"cp", "-rP", "--no-preserve=ownership", filepath.Join(b.Tree, "lab/build/debian/root") + "/.", root},
		{"chroot", root, "sh", "-c", "mkdir -p /opt/plumbline-lab /opt/cni/bin; : > /etc/machine-id; rm -f /etc/resolv.conf /var/cache/apt/archives/*.deb; apt-get clean"},
		{"sh", "-c", `cp "$0"/boot/vmlinuz-* "$1"/kernel && cp "$0"/boot/initrd.img-* "$1"/initrd`, root, tmp},
		{"sh", "-c", `chroot "$0" dpkg-query -W > "$1"/packages`, root, tmp},
		{"mke2fs", "-q", "-t", "ext4", "-d", root, filepath.Join(tmp, "root.img"), "6G"},
	} {
		if err := b.command(ctx, argv...); err != nil {
			return false, err
		}
	}
	list, err := os.ReadFile(filepath.Join(tmp, "packages"))
	if err != nil {
		return false, err
	}
	if err := os.RemoveAll(root); err != nil {
		return false, err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return false, err
	}
	return false, os.Rename(tmp, filepath.Join(b.Cache, fmt.Sprintf("%s-%s-%.4x", machine, recipe, sha256.Sum256(list))))
}

// installKernel is the command that installs the machine's kernel. A mirror may be a snapshot. Without /etc/hosts containerd
// starts no pod on the host network.
func installKernel(machine, root string) []string {
	suite := suites[machine]
	if machine == newest {
		suite = "sid"
	}
	return []string{"sh", "-c", `cp /etc/resolv.conf /etc/hosts "$0"/etc/ && echo "deb $1 $2 main" > "$0"/etc/apt/sources.list.d/kernel.list &&
		chroot "$0" sh -c "apt-get -o Acquire::Check-Valid-Until=false update && apt-get install -y --no-install-recommends -t $2 $3" && printf '127.0.0.1 localhost\n' > "$0"/etc/hosts && rm "$0"/etc/apt/sources.list.d/kernel.list`, root, mirror(), suite, kernel}
}

// mirror is the one that this machine installs from.
func mirror() string {
	f, err := os.Open("/etc/apt/sources.list.d/debian.sources")
	if err == nil {
		defer func() { _ = f.Close() }()
		for in := bufio.NewScanner(f); in.Scan(); {
			if uri, ok := strings.CutPrefix(in.Text(), "URIs: "); ok {
				return strings.Fields(uri)[0]
			}
		}
	}
	return "http://deb.debian.org/debian"
}

func (b *Builder) command(ctx context.Context, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	out, err := cmd.CombinedOutput()
	_, _ = b.Log.Write(out)
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w; run: apt-get install qemu-system-x86 debootstrap e2fsprogs", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", argv[0], err, tail(string(out), 20))
	}
	return nil
}
