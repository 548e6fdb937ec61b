package host

import (
	"strings"

	"plumbline.dev/plumbline/internal/hostfile"
)

// waitsIn is the kernel function that a task waits in; empty if it does not wait.
func waitsIn(dir string) string {
	b, err := hostfile.Read(dir+"/wchan", maxLine)
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(b))
	if name == "0" {
		return ""
	}
	return name
}

func readStatus(dir string) status {
	b, err := hostfile.Read(dir+"/status", maxTable)
	if err != nil {
		return status{}
	}
	return parseStatus(b)
}

func readOwner(dir string) owner {
	b, err := hostfile.Read(dir+"/cgroup", 16*maxLine)
	if err != nil {
		return owner{}
	}
	return parseCgroup(b)
}
