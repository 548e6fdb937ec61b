package web

import (
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// namespacesOf are those of pods, and of what is left of pods and services that are gone.
func namespacesOf(v *model.View) []string {
	s := v.Snapshot()
	all := map[string]bool{}
	for i := range s.Pods {
		all[s.Pods[i].Namespace] = true
	}
	for i := range s.Events {
		all[s.Events[i].Namespace] = true
	}
	for i := range s.Endpoints {
		all[s.Endpoints[i].Namespace] = true
	}
	for i := range s.Services {
		all[s.Services[i].Namespace] = true
	}
	for i := range s.VMs {
		all[s.VMs[i].Namespace] = true
	}
	for i := range s.Blocks {
		for _, a := range s.Blocks[i].Attributes {
			all[a.Namespace], all[handleNamespace(a.Handle)] = true, true
		}
	}
	for i := range s.Handles {
		all[handleNamespace(s.Handles[i].ID)], all[handleNamespace(s.Handles[i].Name)] = true, true
	}
	for _, n := range s.NodeState {
		for i := range n.Sandboxes {
			all[n.Sandboxes[i].Namespace] = true
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// handleNamespace is the namespace that a handle is named after, of a pod of Calico 2 or a virtual machine; else empty.
func handleNamespace(handle string) string {
	if _, rest, ok := strings.Cut(handle, ".vmi."); ok {
		if ns, _, ok := strings.Cut(rest, "."); ok {
			return ns
		}
		return ""
	}
	if !model.Legacy(handle) || model.Reusable(handle) {
		return ""
	}
	ns, _, _ := strings.Cut(handle, ".")
	return ns
}

// names tells that a text has one of the namespaces as a word, wherever it stands: as NAMESPACE/POD, NAMESPACE.HANDLE,
// POD_NAMESPACE, OWNER of NAMESPACE. What is joined to one of the others is the name of a pod there.
func names(text string, of, others map[string]bool) bool {
	before, end := "", 0 // the word before, and where it ended
	for i := 0; i < len(text); {
		if !inName(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && inName(text[i]) {
			i++
		}
		word := text[from:i]
		ofOther := from > 0 && end == from-1 && strings.IndexByte("/.", text[from-1]) >= 0 && others[before]
		if of[word] && !ofOther && (word != "default" || asNamespace(text, from, i)) {
			return true
		}
		before, end = word, i
	}
	return false
}

// asNamespace tells that a word, which may be one of a sentence, is between what joins names.
func asNamespace(text string, from, to int) bool {
	return to < len(text) && strings.IndexByte("/._", text[to]) >= 0 || from > 0 && strings.IndexByte("/._", text[from-1]) >= 0 || strings.HasSuffix(text[:from], " of ")
}

func inName(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' }
