package host

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A deadKey identifies a mount that outlived its container, sandbox or pod.
type deadKey struct{ id, tail string }

const maxHolders = 16

// deadMounts are mounts of containers, sandboxes and pods that are gone from the host's own
// mount table and have no process, but that another mount namespace keeps: the directory
// below cannot be removed, and the runtime retries without end.
func (h *Host) deadMounts(spaces []space) []model.Mount {
	running := map[string]bool{}
	for _, s := range spaces {
		running[s.owner.container], running[s.owner.pod] = true, true
		for _, m := range s.mounts {
			if id, _ := stateOf(m.target); s.host {
				running[id] = true
			}
		}
	}
	h.dead.begin()
	at := map[deadKey]int{}
	var out []model.Mount
	for _, s := range spaces {
		if s.host || s.holder {
			continue // a runtime inside a pod has containers of its own
		}
		for _, m := range s.mounts {
			id, tail := stateOf(m.target)
			k := deadKey{id, tail}
			if id == "" || running[id] {
				continue
			}
			i, again := at[k]
			if !again {
				age, before := h.dead.lasts(k, struct{}{}, h.now())
				if !before || age < h.o.Settle {
					continue
				}
				i = len(out)
				at[k] = i
				out = append(out, model.Mount{Target: m.target, Type: m.kind, Source: m.source, Device: m.device(), Dead: id})
			}
			holder := model.Holder{PID: s.pid, Name: s.name, PodUID: s.owner.pod}
			if held := &out[i].HeldBy; len(*held) < maxHolders && !slices.Contains(*held, holder) {
				*held = append(*held, holder)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b model.Mount) int { return strings.Compare(a.Target, b.Target) })
	return out
}
