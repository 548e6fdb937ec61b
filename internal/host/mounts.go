package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A volume is a file system that can hang, with everything that has it mounted.
type volume struct {
	mount
	target string // a path by which we can reach it
	dir    string // procfs directory of a process that has it mounted
	pods   []string
}

// readMounts reads all mount tables once, and asks each file system that can hang once.
func (h *Host) readMounts(ctx context.Context, f *model.NodeState) error {
	if err := h.mounts.take(ctx); err != nil {
		return err
	}
	defer h.mounts.leave()
	spaces, err := h.spaces(ctx)
	if err != nil && !errors.Is(err, observe.ErrPartial) {
		return err
	}
	vols := h.volumes(spaces)
	if len(vols) > maxRows {
		vols, err = vols[:maxRows], also(err, fmt.Errorf("%w: more than %d file systems that can hang", observe.ErrPartial, maxRows))
	}
	answers, unasked := h.ask(ctx, vols)
	var denial error
	var silent []int
	for i := range vols {
		v := &vols[i]
		a := answers[v.device()]
		server, err := h.server(ctx, v, a.silent)
		denial = cmp.Or(denial, err)
		row := model.Mount{
			Target: v.mount.target, Type: v.kind, Source: v.source, Device: v.device(), Pods: v.pods,
			Silent: a.silent, Asked: a.how, Server: server,
		}
		if a.silent && isFUSE(v.kind) {
			if w := h.fuse[v.device()]; w.low > 0 {
				row.Waits = int64((h.now() - w.since).Seconds())
			}
			silent = append(silent, len(f.Mounts))
		}
		f.Mounts = append(f.Mounts, row)
	}
	err = also(err, h.readUsers(ctx, f.Mounts, silent))
	h.forgetVolumes(vols)
	if unasked != nil {
		err = also(err, fmt.Errorf("%w: %w", observe.ErrPartial, unasked))
	}
	if denial != nil {
		err = also(err, fmt.Errorf("%w: %w", observe.ErrPartial, denial))
	}
	dead := h.deadMounts(spaces)
	if len(dead) > maxRows {
		dead, err = dead[:maxRows], also(err, fmt.Errorf("%w: more than %d mounts of deleted containers and pods", observe.ErrPartial, maxRows))
	}
	f.Mounts = append(f.Mounts, dead...)
	return err
}

// readUsers completes the rows of FUSE file systems that do not answer: all mount tables are read
// for that, which is not done while all is well.
func (h *Host) readUsers(ctx context.Context, rows []model.Mount, silent []int) error {
	if len(silent) == 0 {
		return nil
	}
	spaces, err := h.spacesWith(ctx, everything)
	if err != nil && !errors.Is(err, observe.ErrPartial) {
		return fmt.Errorf("%w: %w", observe.ErrPartial, err)
	}
	for _, i := range silent {
		r := &rows[i]
		if layers := h.layersOn(r.Device, spaces); len(layers) > 0 {
			r.Layer = layers[0]
		}
		r.Known = err == nil && r.Layer == "" && usersKnown(r.Device, spaces)
	}
	return err
}

// volumes joins the mounts of all namespaces by device and source. The reported path is the
// host's, if it has one.
func (h *Host) volumes(spaces []space) []volume {
	type key struct{ device, source string }
	at := map[key]int{}
	var out []volume
	for _, s := range spaces {
		for _, m := range s.mounts {
			if !canHang(m.kind) {
				continue
			}
			k := key{m.device(), m.source}
			i, ok := at[k]
			if !ok {
				i = len(out)
				at[k] = i
				target := s.dir + "/root" + m.target
				if s.pid == 1 {
					target = h.o.Root + m.target
				}
				out = append(out, volume{mount: m, target: target, dir: s.dir})
			}
			if pod := userOf(s, m.target); pod != "" && !slices.Contains(out[i].pods, pod) {
				out[i].pods = append(out[i].pods, pod)
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].pods)
	}
	slices.SortStableFunc(out, func(a, b volume) int {
		return cmp.Or(cmp.Compare(a.mount.target, b.mount.target), cmp.Compare(a.device(), b.device()))
	})
	return out
}

// userOf is the pod that uses a mount: by the kubelet's path, else by the process that has
// it. A pod that mounts the kubelet's whole directory does not use the mounts in it.
func userOf(s space, target string) string {
	if pod := podOf(target); pod != "" {
		return pod
	}
	if staged(target) {
		return ""
	}
	return s.owner.pod
}

// forgetVolumes drops the state of file systems that are gone: device numbers are reused.
func (h *Host) forgetVolumes(vols []volume) {
	there := map[string]bool{}
	for i := range vols {
		there[vols[i].device()] = true
	}
	forget(h.alive, there)
	forget(h.fuse, there)
	forget(h.nfs, there)
	forget(h.servers, there)
}

func forget[V any](m map[string]V, there map[string]bool) {
	for k := range m {
		if !there[k] {
			delete(m, k)
		}
	}
}
