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

// collects finds attachments that nothing needs and queues a DEL for each, in enforce only. It
// deletes nothing itself: the replay decides again.
func (k *daemon) collects(ctx context.Context, s *stage, now time.Time) string {
	// Candidates are read before sandboxes in use: an attachment that is added in between
	// is not a candidate.
	known, err := k.db.All()
	if err != nil {
		return fmt.Sprintf("refused: %v", err)
	}
	known = slices.DeleteFunc(known, func(o guard.Owner) bool { return o.Network != s.network })
	results, err := k.results(s.network, now)
	if err != nil {
		return fmt.Sprintf("refused: read the runtime's cached CNI results: %v", err)
	}
	calls, err := k.Calls(ctx)
	if err != nil {
		return fmt.Sprintf("refused: list the running CNI calls: %v", err)
	}
	namespaces, err := k.Namespaces(ctx)
	if err != nil {
		return fmt.Sprintf("refused: list the network namespaces: %v", err)
	}
	boxes, err := k.sandboxes(ctx)
	keys, refused := guard.Collectable(alive(known, results, calls, namespaces, boxes, err))
	if refused != "" {
		return "refused: " + refused
	}
	if s.mode != guard.Enforce && len(keys) > 0 {
		return fmt.Sprintf("%d would be queued in enforce", len(keys))
	}
	queued, kept, err := k.owe(keys, known, results, boxes)
	text := fmt.Sprintf("%d queued", queued)
	if len(keys) == 0 {
		text = "nothing to collect"
	}
	if kept > 0 {
		text += fmt.Sprintf(", %d skipped: the owner of their pod name is unknown", kept)
	}
	if err != nil {
		text += ": " + err.Error()
	}
	return text
}

// alive collects everything that shows that an attachment is in use. A namespace is gone if
// its inode is on record and not among all namespaces of the node.
func alive(known []guard.Owner, results []cached, calls []model.Process, namespaces []uint64, boxes []model.Sandbox, failed error) guard.InUse {
	a := guard.InUse{Failed: failed}
	for i := range boxes {
		a.Sandboxes = append(a.Sandboxes, boxes[i].ID)
	}
	for _, o := range known {
		a.Recorded = append(a.Recorded, guard.RecordedOwner{Owner: o, Gone: o.Inode != 0 && !slices.Contains(namespaces, o.Inode)})
	}
	for _, c := range results {
		a.Cached = append(a.Cached, guard.Cached{Key: c.Key, Age: c.age})
	}
	for i := range calls {
		a.Calls = append(a.Calls, calls[i].CNI)
	}
	return a
}

// owe queues a DEL for each key. It skips one without a pod name, and one whose name
// belongs to a sandbox that is not on record: the DEL could not be told from that sandbox's
// own.
func (k *daemon) owe(keys []guard.Key, known []guard.Owner, results []cached, boxes []model.Sandbox) (queued, kept int, err error) {
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
		if err := k.db.Queue(guard.QueuedDel{Call: c, Why: "garbage collection: the runtime has no such sandbox", At: at}); err != nil {
			errs = append(errs, err)
			continue
		}
		queued++
		k.Log.Info("collected", "namespace", c.Namespace, "pod", c.Pod, "container", c.Container)
	}
	return queued, kept, errors.Join(errs...)
}

// call returns the DEL of an attachment, from its record if there is one, else from the
// cache.
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

// unknownOf reports whether a sandbox of the same name is not on record.
func unknownOf(c *guard.Call, known []guard.Owner, boxes []model.Sandbox) bool {
	return slices.ContainsFunc(boxes, func(s model.Sandbox) bool {
		return s.Namespace == c.Namespace && s.Pod == c.Pod && !s.HostNetwork &&
			!slices.ContainsFunc(known, func(o guard.Owner) bool { return o.Container == s.ID })
	})
}
