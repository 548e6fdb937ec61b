package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

// kubeletDirs are the usual root directories of kubelets.
var kubeletDirs = []string{"/var/lib/kubelet", "/var/lib/k0s/kubelet", "/var/snap/microk8s/common/var/lib/kubelet"}

var (
	rootDirFlag = regexp.MustCompile(`(?:--|[= "'])root-dir[= ]["']?(/[^\s"',}]+)`) // k3s: --kubelet-arg=root-dir=/DIRECTORY
	podUID      = regexp.MustCompile(`^[0-9a-f][0-9a-f-]{30,35}$`)
)

// KubeletHas reports whether a kubelet still has the directory of the pod: it has not finished
// with the pod, whatever the API server says. An error means that this is unknown.
func (h *Host) KubeletHas(uid string) (bool, error) {
	if !podUID.MatchString(uid) {
		return false, fmt.Errorf("%.80q is not the UID of a pod", uid)
	}
	switch k := h.runningKubelet(); {
	case k.pid == 0:
		return false, errors.New("no running kubelet was found: it may be restarting, with another --root-dir than the usual ones")
	case k.args == "":
		return false, errors.New("the arguments of the kubelet, which may name another directory, cannot be read")
	}
	dirs := kubeletDirs
	if dir := h.kubeletSays(rootDirFlag); dir != "" {
		dirs = append([]string{dir}, dirs...)
	}
	there := false
	for _, dir := range dirs {
		if d, err := hostfile.Root(h.o.Root).Open(path.Join(dir, "pods"), unix.O_PATH|unix.O_NOFOLLOW); err == nil {
			there = true
			_ = d.Close()
		}
		f, err := hostfile.Root(h.o.Root).Open(path.Join(dir, "pods", uid), unix.O_PATH|unix.O_NOFOLLOW)
		switch {
		case err == nil:
			return true, f.Close()
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR):
			return false, fmt.Errorf("read the kubelet's directory %s: %w", dir, err)
		}
	}
	if !there {
		return false, fmt.Errorf("no directory of pods was found (%s/pods): the kubelet may have another --root-dir", strings.Join(dirs, "/pods, "))
	}
	return false, nil
}
