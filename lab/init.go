package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"plumbline.dev/plumbline/lab/machine"
	"plumbline.dev/plumbline/lab/supervise"
)

// Paths inside the lab's own namespaces.
const (
	stateDir    = "/run/plumbline-lab"
	outerSocket = stateDir + "/init.sock"
	nodeSocket  = "/run/plumbline-lab-node.sock"
	nameFile    = stateDir + "/name"
)

// Init must be the first call of every main (and TestMain) that can create a lab: the
// first process of a lab or a node is the same binary, started again.
func Init() {
	if wd := os.Getenv(workDirEnv); wd != "" {
		_ = os.Chdir(wd) // nsenter has changed it
		_ = os.Unsetenv(workDirEnv)
	}
	if os.Args[0] != initArg0 || len(os.Args) < 3 {
		return
	}
	var err error
	switch kind, name := os.Args[1], os.Args[2]; kind {
	case "outer":
		if err = mountOuter(name); err == nil {
			err = logTo(stateDir + "/log/init.log") // the process that started the lab does not read for long
		}
		if err == nil {
			err = supervise.Serve(outerSocket)
		}
	case "node":
		if err = mountNode(name); err == nil {
			err = supervise.Serve(nodeSocket)
		}
	case "machine":
		err = machine.Run(machineDir, name)
	case "exec":
		os.Exit(execInMachine(machine.Client(name), os.Args[3:]))
	default:
		err = fmt.Errorf("unknown kind %q", kind)
	}
	fmt.Fprintln(os.Stderr, initArg0+":", err)
	os.Exit(1)
}

// logTo redirects stdout and stderr of this process to a file.
func logTo(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for _, fd := range []int{1, 2} {
		if err := syscall.Dup3(int(f.Fd()), fd, 0); err != nil {
			return err
		}
	}
	return nil
}

// Inside returns the name of the lab that this process runs in.
func Inside() (string, bool) {
	b, err := os.ReadFile(nameFile)
	return string(b), err == nil
}

// mounts runs mount calls until one fails.
type mounts struct{ err error }

func (m *mounts) do(source, target, fstype string, flags uintptr, data string) {
	if m.err != nil {
		return
	}
	if err := syscall.Mount(source, target, fstype, flags, data); err != nil {
		m.err = fmt.Errorf("mount %s on %s: %w", fstype+source, target, err)
	}
}

func (m *mounts) tmpfs(dir string) {
	m.mkdir(dir)
	m.do("tmpfs", dir, "tmpfs", 0, "mode=0755")
}

func (m *mounts) bind(source, target string) {
	m.do(source, target, "", syscall.MS_BIND|syscall.MS_REC, "")
}

// readOnly makes dir a read-only mount, with everything below it.
func (m *mounts) readOnly(dir string) {
	m.bind(dir, dir)
	m.do("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
}

func (m *mounts) mkdir(dirs ...string) {
	for _, d := range dirs {
		if m.err == nil {
			m.err = os.MkdirAll(d, 0o755)
		}
	}
}

func (m *mounts) write(path, text string) {
	if m.err == nil {
		m.err = os.WriteFile(path, []byte(text), 0o644)
	}
}

// mountOuter gives the lab a private /run: names of network namespaces, sockets, keys
// and logs belong to this lab only, and are gone when it ends.
func mountOuter(name string) error {
	m := &mounts{}
	m.do("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	m.do("proc", "/proc", "proc", 0, "")
	m.tmpfs("/run")
	m.mkdir("/run/lock", "/run/netns", stateDir+"/log")
	m.write(nameFile, name)
	if m.err != nil {
		return m.err
	}
	return loopbackUp()
}

// mountNode gives a node its own file system: it reads the machine's files, and its
// writes to /etc, /opt, /var, /run or /tmp go to memory. The rest is read-only, so
// nothing that runs in a node can change the machine.
func mountNode(name string) error {
	m := &mounts{}
	m.do("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	m.do("proc", "/proc", "proc", 0, "")
	m.tmpfs("/run")
	m.mkdir("/run/lock", "/run/netns")

	// /sys shows the interfaces of the network namespace of the process that mounts it; the
	// cgroup tree below it is mounted again.
	m.mkdir("/run/node/cgroup")
	m.bind(cgroupRoot, "/run/node/cgroup")
	m.do("sysfs", "/sys", "sysfs", 0, "")
	m.bind("/run/node/cgroup", cgroupRoot)
	m.do("fusectl", "/sys/fs/fuse/connections", "fusectl", 0, "")

	for _, d := range []string{"etc", "opt", "tmp", "var"} {
		upper, work := filepath.Join("/run/node", d, "upper"), filepath.Join("/run/node", d, "work")
		m.mkdir(upper, work)
		m.do("overlay", "/"+d, "overlay", 0, fmt.Sprintf("lowerdir=/%s,upperdir=%s,workdir=%s", d, upper, work))
	}
	// An overlay cannot have its upper layer on another overlay: containerd's snapshots need
	// a real file system.
	m.tmpfs("/var/lib/containerd")
	m.tmpfs("/var/lib/kubelet")
	m.tmpfs("/var/log")
	m.mkdir("/var/log/pods", "/var/log/calico/cni", "/var/lib/calico", "/var/lib/cni", "/opt/cni/bin", layouts[LayoutKubeadm].cniDir, layouts[LayoutK3s].cniDir, "/etc/kubernetes", "/etc/calico")

	m.kernelSettings()
	m.do("", "/", "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
	m.do("", "/", "", syscall.MS_REC|syscall.MS_SHARED, "") // the kubelet propagates mounts to containers
	if m.err != nil {
		return m.err
	}
	if err := syscall.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	return loopbackUp()
}

// kernelSettings gives the kubelet the sysctl values that it would otherwise set: they
// belong to the machine, not to the node. All but those of the network are read-only.
func (m *mounts) kernelSettings() {
	for _, d := range []string{"kernel", "vm", "fs"} {
		m.readOnly("/proc/sys/" + d)
	}
	m.mkdir("/run/node/sysctl")
	for path, value := range map[string]string{
		"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10",
		"kernel/panic_on_oops": "1", "kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
	} {
		file := "/run/node/sysctl/" + filepath.Base(path)
		m.write(file, value+"\n")
		m.bind(file, "/proc/sys/"+path)
	}
}

func loopbackUp() error {
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("ip link set lo up: %w: %s", err, out)
	}
	return nil
}
