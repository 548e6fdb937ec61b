//go:build e2e

package watch

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/load"
	"plumbline.dev/plumbline/lab/stage"
)

// names returns the findings that a fault must become. A finding that check folds under
// another is reported by itself here.
func names(f load.Fault) []string {
	out := stage.NamesOf(f)
	if f.Kind == load.WrongNode {
		out = append(out, "PL5002/kube-controllers/"+f.Subject)
	}
	return out
}

// A cure removes a fault, and restores it.
type cure struct{ heal, hurt []write }

// cure determines how, and keeps the original values.
func (b *stores) cure(ctx context.Context, f load.Fault) (c cure, err error) {
	now := func(key string, value []byte) {
		was, e := b.of(key).get(ctx, key)
		if e != nil || was == nil {
			err = fmt.Errorf("%s of %s: %s does not exist: %w", f.Kind, f.Subject, key, e)
			return
		}
		c.heal, c.hurt = append(c.heal, write{key, value}), append(c.hurt, write{key, was})
	}
	changed := func(key string, change func([]byte) ([]byte, error)) {
		was, e := b.of(key).get(ctx, key)
		var value []byte
		if e == nil {
			value, e = change(was)
		}
		if e != nil {
			err = fmt.Errorf("%s of %s: %s: %w", f.Kind, f.Subject, key, e)
			return
		}
		now(key, value)
	}
	inBlock := func(change func(map[string]any) error) {
		changed(b.blockKey(f.Block), func(v []byte) ([]byte, error) { return edit(v, change) })
	}
	gone := func(pod string, known bool) {
		now(podKey(pod), nil)
		if b.mode == lab.Etcd && known {
			now(endpointKey(f.Node, pod), nil)
		}
	}
	switch f.Kind {
	case load.Leaked:
		inBlock(func(s map[string]any) error { return release(s, f.Handle) })
		now(b.handleKey(f.Handle), nil)
	case load.Unallocated:
		gone(f.Pod, true)
	case load.OrphanHandle:
		now(b.handleKey(f.Handle), nil)
	case load.MiscountedHandle:
		changed(b.handleKey(f.Handle), func(v []byte) ([]byte, error) {
			return edit(v, func(s map[string]any) error { s["block"] = map[string]any{f.Block: json.Number("1")}; return nil })
		})
	case load.MissingHandle:
		gone(f.Pod, true)
		inBlock(func(s map[string]any) error { return release(s, f.Handle) })
	case load.NoAnnotation:
		if b.mode == lab.KDD {
			changed(podKey(f.Pod), func(v []byte) ([]byte, error) {
				return editPod(v, func(p *corev1.Pod) { annotate(p, f.Subject+"/32") })
			})
			break
		}
		gone(f.Pod, false)
		inBlock(func(s map[string]any) error { return release(s, f.Handle) })
		now(b.handleKey(f.Handle), nil)
	case load.StaleEndpoint:
		now(endpointKey(f.Node, f.Pod), nil)
	case load.SharedAddress:
		gone(f.Other, true)
	case load.WrongNode:
		inBlock(func(s map[string]any) error {
			list, _ := s["attributes"].([]any)
			for _, a := range list {
				if m, _ := a.(map[string]any); m["handle_id"] == f.Handle {
					second, _ := m["secondary"].(map[string]any)
					second["node"] = f.Node
					return nil
				}
			}
			return errNotHeld
		})
	case load.GoneNodeAffinity:
		now(b.affinityKey(f.Node, f.Subject), nil)
	case load.BadIndex:
		now(b.blockKey(f.Subject), nil)
		now(b.affinityKey(f.Node, f.Subject), nil)
	case load.Finished:
		gone(f.Pod, false)
	}
	return c, err
}
