package records

import (
	"path"
	"strings"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// nameNodes sets Input.Node by the directories: if several hold a log of the same name, each is of
// one node and has its name. A directory whose name is that of a node with a suffix (node1-cni
// beside node1) is of that node, unless both hold a log of the same name. Entries of journal files
// have the name of their node, and the directory that of a machine ID.
func nameNodes(in []Input) {
	byLog := map[string][]int{}
	for i := range in {
		if journal.IsFile(in[i].Name) || ofContainers(in[i].Name) {
			continue
		}
		log := ageOf(in[i].Name).log
		byLog[log] = append(byLog[log], i)
	}
	logs := map[string]map[string]bool{} // logs by node
	for log, at := range byLog {
		up, ok := differ(in, at)
		if !ok {
			continue
		}
		for _, i := range at {
			node := ancestor(in[i].Name, up)
			if logs[node] == nil {
				logs[node] = map[string]bool{}
			}
			logs[node][log] = true
			in[i].Node = node
		}
	}
	for i := range in {
		dir := in[i].Node
		if dir == "" {
			dir = ancestor(in[i].Name, 1)
		}
		in[i].Node = nodeOf(dir, logs)
	}
}

// nodeOf gives the node that a directory's name belongs to, empty if to none.
func nodeOf(dir string, logs map[string]map[string]bool) string {
	for i := strings.IndexByte(dir, '-'); i > 0; {
		if own := logs[dir[:i]]; own != nil && apartFrom(own, logs[dir]) {
			return dir[:i]
		}
		next := strings.IndexByte(dir[i+1:], '-')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if logs[dir] == nil {
		return ""
	}
	return dir
}

func apartFrom(a, b map[string]bool) bool {
	for k := range b {
		if a[k] {
			return false
		}
	}
	return true
}

// differ gives how many levels up the directories of these files first have different names.
func differ(in []Input, at []int) (up int, ok bool) {
	for up = 1; up < 32; up++ {
		first, more := ancestor(in[at[0]].Name, up), false
		for _, i := range at {
			name := ancestor(in[i].Name, up)
			if name == "" {
				return 0, false
			}
			more = more || name != first
		}
		if more {
			return up, true
		}
	}
	return 0, false
}

// ancestor gives the name of the directory up levels above, empty if there is none.
func ancestor(name string, up int) string {
	for range up {
		name = path.Dir(name)
	}
	if name == "." || name == "/" {
		return ""
	}
	return path.Base(name)
}

// ofContainers reports whether a file is the log of a container, whose directories are those of pods,
// or a copy that somebody has put aside.
func ofContainers(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch {
		case part == "pods", part == "containers":
			return true
		case strings.HasSuffix(part, ".bak"), strings.HasSuffix(part, ".old"), strings.HasSuffix(part, ".orig"):
			return true
		}
	}
	return false
}
