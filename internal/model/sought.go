package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Sought is what a person has in hand and looks for on all nodes: the name of an interface, a
// MAC, the ID of a sandbox or container, a process, a volume. The command finds with it, and
// agents send only the rows that it concerns.
type Sought struct {
	Of   string // device, mac, sandbox, pid or volume
	Name string

	node string // of a pid; "": any
	pid  int
}

var soughtTables = map[string][]Table{
	"device":  {Links, Attachments, Sandboxes},
	"mac":     {Links, Attachments, Sandboxes},
	"sandbox": {Sandboxes, Containers, CNIResults},
	"pid":     {Sandboxes, Containers, Processes},
	"volume":  {Mounts, Sandboxes},
}

// Seek checks what is looked for, and spells it as nodes do.
func Seek(of, name string) (s Sought, err error) {
	s = Sought{Of: of, Name: name}
	switch of {
	case "device", "volume":
		if name == "" {
			err = errors.New("its name is empty")
		}
	case "mac":
		s.Name, err = parseMAC(name)
	case "sandbox":
		if len(name) < 8 || strings.Trim(name, "0123456789abcdef") != "" {
			err = errors.New("at least 8 hexadecimal digits of its ID")
		}
	case "pid":
		node, number, on := strings.Cut(name, "/")
		if !on {
			node, number = "", name
		}
		if s.pid, err = strconv.Atoi(number); err != nil || s.pid < 1 {
			err = fmt.Errorf("%.40q is not [NODE/]PID", name)
		}
		s.node = node
	default:
		err = errors.New("not something that is looked for")
	}
	return s, err
}

// parseMAC reads 48 bits in the ways that people and switches write them.
func parseMAC(text string) (string, error) {
	digits := strings.NewReplacer(":", "", "-", "", ".", "").Replace(strings.ToLower(text))
	if len(digits) != 12 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%.40q is not a MAC address", text)
	}
	var pairs []string
	for pair := range slices.Chunk([]byte(digits), 2) {
		pairs = append(pairs, string(pair))
	}
	return strings.Join(pairs, ":"), nil
}

// Tables are those that it can be in, and those that name the pod.
func (s Sought) Tables() []Table { return soughtTables[s.Of] }

// Link reports whether it is this interface of a node. All host interfaces of Calico's pods have the same MAC.
func (s Sought) Link(l *Link) bool {
	return s.Of == "device" && l.Name == s.Name || s.Of == "mac" && strings.EqualFold(l.MAC, s.Name)
}

// Attachment reports whether it is this interface of a pod.
func (s Sought) Attachment(a *Attachment) bool {
	return s.Of == "mac" && strings.EqualFold(a.MAC, s.Name)
}

// Sandbox reports whether it is this sandbox, or its first process.
func (s Sought) Sandbox(b *Sandbox, node string) bool { return s.id(b.ID) || s.process(b.PID, node) }

// Container reports whether it is this container, or its first process.
func (s Sought) Container(c *Container, node string) bool {
	return s.id(c.ID) || s.process(c.PID, node)
}

// CNIResult reports whether it is the sandbox that this result is of.
func (s Sought) CNIResult(r *CNIResult) bool { return s.id(r.Container) }

// Process reports whether it is this process.
func (s Sought) Process(p *Process, node string) bool { return s.process(p.PID, node) }

// Mount reports whether it is a part of the source of this mount, or its server.
func (s Sought) Mount(m *Mount) bool {
	return s.Of == "volume" && (strings.Contains(m.Source, s.Name) || m.Server == s.Name)
}

func (s Sought) id(id string) bool { return s.Of == "sandbox" && strings.HasPrefix(id, s.Name) }

func (s Sought) process(pid int, node string) bool {
	return s.Of == "pid" && pid == s.pid && (s.node == "" || s.node == node)
}

// Narrow reduces a node's state to the rows that it concerns, and the interfaces and sandboxes
// that belong to them. Rows of tables that it is not looked for in go.
func (s Sought) Narrow(f *NodeState, node string) {
	out := NodeState{}
	behind, boxes := map[int]bool{}, map[string]bool{} // IDs of sandboxes, and UIDs of pods
	out.Links = kept(f.Links, func(l *Link) bool {
		behind[l.Index] = behind[l.Index] || s.Link(l)
		return s.Link(l)
	})
	out.Attachments = kept(f.Attachments, func(a *Attachment) bool {
		yes := s.Attachment(a) || behind[a.Peer]
		boxes[a.Sandbox] = boxes[a.Sandbox] || yes
		return yes
	})
	out.Containers = kept(f.Containers, func(c *Container) bool {
		boxes[c.Sandbox] = boxes[c.Sandbox] || s.Container(c, node)
		return s.Container(c, node)
	})
	out.CNIResults = kept(f.CNIResults, s.CNIResult)
	out.Processes = kept(f.Processes, func(p *Process) bool { return s.Process(p, node) })
	out.Mounts = kept(f.Mounts, func(m *Mount) bool {
		for _, uid := range m.Pods {
			boxes[uid] = boxes[uid] || s.Mount(m)
		}
		return s.Mount(m)
	})
	out.Sandboxes = kept(f.Sandboxes, func(b *Sandbox) bool { return s.Sandbox(b, node) || boxes[b.ID] || boxes[b.UID] })
	*f = out
}

// kept gives the rows that are wanted, in new memory.
func kept[T any](rows []T, yes func(*T) bool) []T {
	return slices.Collect(func(yield func(T) bool) {
		for i := range rows {
			if yes(&rows[i]) && !yield(rows[i]) {
				return
			}
		}
	})
}
