// Package machine runs a whole Debian machine, with its own kernel and systemd, under
// QEMU: a node of the lab for what namespaces cannot show.
package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// A Spec says what to run.
type Spec struct {
	Name   string `json:"name"`
	Dir    string `json:"dir"` // for sockets and the console's log
	Image  string `json:"image"`
	Parts  string `json:"parts"` // a disk with the lab's programs
	Tap    string `json:"tap"`
	Index  int    `json:"index"` // of its MAC address
	Addr   string `json:"addr"`  // with the prefix length
	Router string `json:"router"`
}

// Memory is the machine's memory in MiB. An idle node uses half of it.
const Memory = 2048

func (s Spec) path(suffix string) string { return filepath.Join(s.Dir, s.Name+suffix) }

// Socket is where the process that runs the machine listens.
func Socket(dir, name string) string { return filepath.Join(dir, name+".sock") }

// Write stores the spec for Run.
func (s Spec) Write() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(s.path(".json"), b, 0o600)
}

func read(dir, name string) (Spec, error) {
	var s Spec
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(b, &s)
}

// qemu is QEMU's command line. The disks are never written: with snapshot=on, writes go
// to an unnamed file that lives as long as QEMU does, through resets too.
//
// Without cx16=off, Linux 6.12 panics in QEMU 7.2's emulation of cmpxchg16b.
func (s Spec) qemu(kvm bool) []string {
	accel, cpu := "tcg,thread=multi", "max,cx16=off"
	if kvm {
		accel, cpu = "kvm", "host"
	}
	cmdline := fmt.Sprintf("root=/dev/vda rw console=ttyS0 panic=5 mitigations=off systemd.hostname=%s plumbline.addr=%s plumbline.router=%s", s.Name, s.Addr, s.Router)
	return []string{
		"qemu-system-x86_64", "-name", s.Name, "-M", "q35", "-accel", accel, "-cpu", cpu, "-smp", "2", "-m", strconv.Itoa(Memory),
		"-display", "none", "-nodefaults",
		"-chardev", "file,id=console,path=" + s.path(".console"), "-serial", "chardev:console",
		"-qmp", "unix:" + s.path(".qmp") + ",server=on,wait=off",
		"-kernel", filepath.Join(s.Image, "kernel"), "-initrd", filepath.Join(s.Image, "initrd"), "-append", cmdline,
		"-drive", "file=" + filepath.Join(s.Image, "root.img") + ",if=virtio,format=raw,cache=unsafe,snapshot=on",
		"-drive", "file=" + filepath.Join(s.Parts, "parts.img") + ",if=virtio,format=raw,readonly=on",
		"-netdev", "tap,id=net,ifname=" + s.Tap + ",script=no,downscript=no",
		"-device", fmt.Sprintf("virtio-net-pci,netdev=net,mac=52:54:00:00:00:%02x", s.Index),
		"-device", "virtio-serial-pci",
		"-chardev", "socket,id=lab,path=" + s.path(".port") + ",server=on,wait=off",
		"-device", "virtserialport,chardev=lab,id=lab,name=plumbline-lab",
		"-device", "virtio-rng-pci",
	}
}
