package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// containerListed reports whether a row is one of `docker ps` of a pod's container. People
// omit wide columns: ID, command, age, state and name are required.
func containerListed(c *cells) bool {
	if c.n < 5 || !shortID(c.all[0]) {
		return false
	}
	seen := 0
	for _, b := range c.all[1 : c.n-1] {
		switch {
		case len(b) > 1 && b[0] == '"' && b[len(b)-1] == '"' && seen == 0,
			bytes.HasSuffix(b, []byte(" ago")) && seen == 1,
			seen == 2 && state(b):
			seen++
		}
	}
	pod, _ := dockerPod(c.all[c.n-1])
	return seen == 3 && len(pod) > 0
}

// shortID reports whether b is a container's ID, in docker's short form or in full.
func shortID(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(b) == minID || len(b) == 64
}

// state reports whether b is a container state of docker.
func state(b []byte) bool {
	for _, s := range [...]string{"Up ", "Exited (", "Restarting (", "Created", "Dead", "Removal In Progress"} {
		if hasPrefix(b, s) {
			return true
		}
	}
	return false
}

// dockerPod reads k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT, as dockershim names containers;
// the sandbox's is POD. It gives POD_NAMESPACE_UID.
func dockerPod(b []byte) (pod []byte, sandbox bool) {
	b, ok := bytes.CutPrefix(b, []byte("k8s_"))
	if !ok || bytes.Count(b, []byte{'_'}) != 4 {
		return nil, false
	}
	container, rest, _ := bytes.Cut(b, []byte{'_'})
	last := bytes.LastIndexByte(rest, '_')
	if !plainName(container) || !number(rest[last+1:]) {
		return nil, false
	}
	rest = rest[:last]
	for b := rest; ; {
		part, more, ok := bytes.Cut(b, []byte{'_'})
		if !plainName(part) {
			return nil, false
		}
		if !ok {
			return rest, string(container) == "POD"
		}
		b = more
	}
}

// containerRow parses such a row.
func (t *Parser) containerRow(r *records.Record, c *cells) {
	of, sandbox := dockerPod(c.all[c.n-1])
	i := bytes.LastIndexByte(of, '_')
	e := timeline.Event{Kind: timeline.PodSeen, UID: uidOf(of[i+1:])}
	e.Pod, _ = oldPod(of[:i])
	if sandbox {
		e.Sandbox = string(c.all[0])
	} else {
		e.Container = string(c.all[0])
	}
	t.say(r, "docker", e)
}
