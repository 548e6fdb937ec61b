package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
)

// collects looks for attachments that nobody needs, and queues a DEL for each. It deletes
// nothing itself: when the DEL comes, all is decided again.
func (k *Daemon) collects(ctx context.Context, s *stage, now time.Time) string {
	// Who may go is read before who lives: whoever comes in between is not looked at.
	known, err := k.db.All()
	if err != nil {
		return fmt.Sprintf("refused: %v", err)
	}
	known = slices.DeleteFunc(known, func(o guard.Owner) bool { return o.Network != s.network })
	results, err := k.results(s.network, now)
	if err != nil {
		return fmt.Sprintf("refused: what the runtime has cached: %v", err)
	}
	calls, err := k.Calls(ctx)
	if err != nil {
		return fmt.Sprintf("refused: which CNI calls run: %v", err)
	}
	living, err := k.RunningSandboxes(ctx)
	if err != nil {
		return fmt.Sprintf("refused: which network namespaces live: %v", err)
	}
	boxes, err := k.sandboxes(ctx)
	keys, refused := guard.Collectable(alive(known, results, calls, living, boxes, err))
	if refused != "" {
		return "refused: " + refused
	}
	queued, kept, err := k.owe(keys, known, results, boxes)
	text := fmt.Sprintf("%d queued", queued)
	if len(keys) == 0 {
		text = "nothing to collect"
	}
	if kept > 0 {
		text += fmt.Sprintf(", %d left alone: nobody knows whose their name is", kept)
	}
	if err != nil {
		text += ": " + err.Error()
	}
	return text
}

// alive puts together all that speaks for an attachment's life. A namespace is gone if it
// was known, and all that live were seen.
func alive(known []guard.Owner, results []cached, calls []model.Process, living []uint64, boxes []model.Sandbox, failed error) guard.Alive {
	a := guard.Alive{Failed: failed}
	for i := range boxes {
		a.Sandboxes = append(a.Sandboxes, boxes[i].ID)
	}
	for _, o := range known {
		a.Recorded = append(a.Recorded, guard.Lived{Owner: o, Gone: o.Inode != 0 && !slices.Contains(living, o.Inode)})
	}
	for _, c := range results {
		a.Cached = append(a.Cached, guard.Cached{Key: c.Key, Age: c.age})
	}
	for i := range calls {
		a.Calls = append(a.Calls, calls[i].CNI)
	}
	return a
}

// owe queues a DEL for each key. One without a pod's name is left alone, and one whose name
// somebody has who is not on record: the DEL could not be told from his own.
func (k *Daemon) owe(keys []guard.Key, known []guard.Owner, results []cached, boxes []model.Sandbox) (queued, kept int, err error) {
	at, err := sinceBoot()
	if err != nil {
		return 0, len(keys), err
	}
	waiting, err := k.db.Queued()
	if err != nil {
		return 0, len(keys), err
	}
	var errs []error
	for _, key := range keys {
		if slices.ContainsFunc(waiting, func(l guard.QueuedDel) bool { return l.Key() == key }) {
			continue
		}
		c := call(key, known, results)
		if c.Pod == "" || unknownOf(&c, known, boxes) {
			kept++
			continue
		}
		if err := k.db.Queue(guard.QueuedDel{Call: c, Why: "collected: the runtime has no such sandbox", At: at}); err != nil {
			errs = append(errs, err)
			continue
		}
		queued++
		k.Log.Info("collected", "namespace", c.Namespace, "pod", c.Pod, "container", c.Container)
	}
	return queued, kept, errors.Join(errs...)
}

// call is the DEL of an attachment, from the record if it is there, else from the cache.
func call(key guard.Key, known []guard.Owner, results []cached) guard.Call {
	c := guard.Call{Verb: guard.Del, Network: key.Network, Container: key.Container, IfName: key.IfName}
	for i := range results {
		if r := &results[i]; r.Key == key {
			c.Namespace, c.Pod, c.UID = r.namespace, r.pod, r.uid
		}
	}
	for i := range known {
		if o := &known[i]; o.Key == key {
			c.Namespace, c.Pod, c.UID, c.NetNS = o.Namespace, o.Pod, o.UID, o.NetNS
		}
	}
	return c
}

// unknownOf tells that a sandbox has the call's name and is not on record.
func unknownOf(c *guard.Call, known []guard.Owner, boxes []model.Sandbox) bool {
	return slices.ContainsFunc(boxes, func(s model.Sandbox) bool {
		return s.Namespace == c.Namespace && s.Pod == c.Pod && !s.HostNetwork &&
			!slices.ContainsFunc(known, func(o guard.Owner) bool { return o.Container == s.ID })
	})
}
