package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
)

// settled is the minimum age of a sandbox to be adopted: the ADD of a younger one, or of
// its successor, may still run.
const settled = time.Minute

// A podName identifies a pod on this node.
type podName struct{ namespace, pod string }

// adoptable returns the sandboxes older than the guard that may be recorded: each is ready,
// and the only one of its name in any state. Of two the order would be unknown, and order
// is never derived from time.
func adoptable(all []model.Sandbox, known []guard.Owner, network, ifName string, now time.Time) []guard.Owner {
	of := map[podName]int{}
	for i := range all {
		of[podName{all[i].Namespace, all[i].Pod}]++
	}
	taken := map[podName]bool{}
	for i := range known {
		taken[podName{known[i].Namespace, known[i].Pod}] = true
	}
	var out []guard.Owner
	for i := range all {
		s := &all[i]
		name := podName{s.Namespace, s.Pod}
		switch {
		case !s.Ready || s.HostNetwork || s.Pod == "" || s.ID == "", s.NetNS == "" || s.Inode == 0:
		case of[name] != 1 || taken[name]:
		case s.Created.IsZero() || now.Sub(s.Created.Time()) < settled:
		default:
			out = append(out, guard.Owner{
				Key: guard.Key{Network: network, Container: s.ID, IfName: ifName}, Namespace: s.Namespace, Pod: s.Pod,
				UID: s.UID, State: guard.Added, NetNS: s.NetNS, Inode: s.Inode,
			})
		}
	}
	return out
}

// adopts records sandboxes whose ADD the guard did not see, so that a late DEL of theirs is
// recognized.
func (k *daemon) adopts(ctx context.Context, s *stage, now time.Time) error {
	all, err := k.sandboxes(ctx)
	if err != nil {
		return fmt.Errorf("adopt sandboxes older than the guard: %w", err)
	}
	known, err := k.db.All()
	if err != nil {
		return fmt.Errorf("adopt sandboxes older than the guard: %w", err)
	}
	var errs []error
	for _, o := range adoptable(all, known, s.network, s.ifName, now) {
		adopted, err := k.db.Adopt(o)
		if adopted {
			known = append(known, o)
			k.Log.Info("adopted", "namespace", o.Namespace, "pod", o.Pod, "container", o.Container)
		}
		if errs = append(errs, err); ctx.Err() != nil {
			break
		}
	}
	k.say(func(r *guard.Report) { r.Adopted = adopted(known) })
	return errors.Join(errs...)
}

// adopted counts the adopted attachments on record: no process ran their ADD.
func adopted(known []guard.Owner) int {
	n := 0
	for i := range known {
		if known[i].PID == 0 && known[i].State != guard.Deleted {
			n++
		}
	}
	return n
}
