package plugin

import (
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// lookup returns the last value of a variable.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// with returns the environment with one variable changed.
func with(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			out = append(out, v)
		}
	}
	return append(out, name+"="+value)
}

// parseCall reads from the environment what identifies a request.
func parseCall(env []string, network string) guard.Call {
	c := guard.Call{
		Verb: guard.Verb(lookup(env, "CNI_COMMAND")), Network: network, Container: lookup(env, "CNI_CONTAINERID"),
		IfName: lookup(env, "CNI_IFNAME"), NetNS: lookup(env, "CNI_NETNS"),
	}
	for arg := range strings.SplitSeq(lookup(env, "CNI_ARGS"), ";") {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "K8S_POD_NAMESPACE":
			c.Namespace = value
		case "K8S_POD_NAME":
			c.Pod = value
		case "K8S_POD_UID":
			c.UID = value
		}
	}
	return c
}
