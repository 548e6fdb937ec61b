package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
)

// settled is how old a sandbox must be to be taken as it is: a younger one's ADD, or that
// of its successor, may be under way.
const settled = time.Minute

// A podName is what a pod is called.
type podName struct{ namespace, pod string }

// adoptable gives the sandboxes from before the guard that may be put on record: each is
// ready, and the only one of its name in any state. Of two nobody could say which is the
// older: order is never guessed from time.
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

// adopts puts on record whom the guard did not see come, so that a late DEL of theirs is
// known to be one.
func (k *Daemon) adopts(ctx context.Context, s *stage, now time.Time) error {
	all, err := k.sandboxes(ctx)
	if err != nil {
		return fmt.Errorf("adopt sandboxes from before the guard: %w", err)
	}
	known, err := k.db.All()
	if err != nil {
		return fmt.Errorf("adopt sandboxes from before the guard: %w", err)
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

// adopted counts those on record whose ADD no process ran.
func adopted(known []guard.Owner) int {
	n := 0
	for i := range known {
		if known[i].PID == 0 && known[i].State != guard.Deleted {
			n++
		}
	}
	return n
}
