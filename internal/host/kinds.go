package host

import "strings"

// File systems that wait for a server that may never answer. Those of FUSE are recognized
// by their prefix.
var remote = map[string]bool{
	"nfs": true, "nfs4": true, "cifs": true, "smb3": true, "smbfs": true, "ceph": true, "glusterfs": true, "9p": true,
	"virtiofs": true, "lustre": true, "beegfs": true, "afs": true, "gfs2": true, "ocfs2": true, "gpfs": true,
	"orangefs": true, "pvfs2": true, "coda": true, "ncpfs": true, "wekafs": true, "panfs": true,
}

// File systems in memory, which always answer.
var inMemory = map[string]bool{
	"proc": true, "sysfs": true, "tmpfs": true, "devtmpfs": true, "devpts": true, "cgroup": true, "cgroup2": true,
	"mqueue": true, "ramfs": true, "securityfs": true, "debugfs": true, "tracefs": true, "bpf": true, "fusectl": true,
	"nsfs": true, "pstore": true, "hugetlbfs": true, "configfs": true, "autofs": true, "efivarfs": true, "binfmt_misc": true,
}

func isFUSE(kind string) bool {
	return kind == "fuse" || kind == "fuseblk" || strings.HasPrefix(kind, "fuse.") || strings.HasPrefix(kind, "fuseblk.")
}

func isNFS(kind string) bool { return kind == "nfs" || kind == "nfs4" }

func canHang(kind string) bool { return remote[kind] || isFUSE(kind) }

func onDisk(kind string) bool { return !canHang(kind) && !inMemory[kind] }

// serverOf returns the host in the source of a network file system: host:/path, [v6]:/path,
// //host/share, mon1,mon2:/path.
func serverOf(kind, source string) string {
	if kind == "fuse.glusterfs" {
		kind = "glusterfs"
	}
	if !remote[kind] {
		return ""
	}
	if rest, ok := strings.CutPrefix(source, "//"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return host
	}
	if host, _, ok := strings.Cut(source, ":/"); ok {
		return host
	}
	if host, _, ok := strings.Cut(source, ":"); ok {
		return host
	}
	return ""
}
