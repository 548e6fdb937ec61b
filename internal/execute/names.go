package execute

import (
	"context"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A nodeName is what Calico on a node calls the node, as its agent says, or published before it
// fell silent. It stays true until the node says otherwise: the name is read at every CNI call,
// but only who changes the node's files changes it.
type nodeName struct {
	known  bool
	silent bool     // it was published, and the agent does not answer
	names  []string // none: neither the CNI configuration nor the nodename file has one
	asked  time.Time
	full   *model.Verification // what it said of everything when it was asked for its name
}

// silentFor is for how long a node that did not answer is not asked for its name again.
const silentFor = time.Minute

// learn remembers the names in an answer. An incomplete one may lack a name, so it proves no more than
// was known before.
func (x *Executor) learn(w *model.Verification) {
	if x.names == nil {
		x.names = map[string]*nodeName{}
	}
	n := &nodeName{known: w.Complete}
	n.called(w.CalicoName, w.ConfigName)
	if before := x.names[w.Node]; before != nil {
		n.full = before.full
		if !w.Complete {
			n.known, n.asked = before.known, before.asked
			n.called(before.names...)
		}
	}
	if w.All {
		n.full, x.named = w, nil
	}
	x.names[w.Node] = n
}

func (n *nodeName) called(names ...string) {
	for _, name := range names {
		if name != "" && !slices.Contains(n.names, name) {
			n.names = append(n.names, name)
		}
	}
}

// seen gives the nodes that had the container or the address when they told their names: one that
// was called otherwise in the past may have it under that name.
func (x *Executor) seen(all []string, d *change.NotInUse) (nodes []string) {
	if x.named == nil {
		x.named = usersOf(all, func(node string) *model.Verification { return x.names[node].full })
	}
	for _, node := range x.named.of(d.Containers, d.IPs) {
		if full := x.names[node].full; full != nil { // what an incomplete answer shows is there
			if why, passing := d.Against(full); why != "" && !passing {
				nodes = append(nodes, node)
			}
		}
	}
	return nodes
}

// survey asks every node for its name that has not told it yet.
func (x *Executor) survey(ctx context.Context) ([]string, error) {
	all, err := x.nodeNames(ctx)
	if err != nil {
		return nil, err
	}
	if x.names == nil {
		x.names = map[string]*nodeName{}
	}
	var unknown []string
	for _, node := range all {
		n := x.names[node]
		if n != nil && (n.known && !n.silent || x.Now().Sub(n.asked) < silentFor && !x.Now().Before(n.asked)) {
			continue
		}
		unknown = append(unknown, node)
	}
	at := x.Now()
	said := x.askEach(ctx, unknown, func(ctx context.Context, node string) answer {
		w, err := x.Nodes.Ask(ctx, node, nil, nil)
		return answer{w, err}
	})
	for i, node := range unknown {
		x.names[node] = &nodeName{asked: at, silent: true}
		if said[i].err == nil && said[i].w.Node == node {
			x.learn(&said[i].w)
			x.names[node].silent = false
		}
		if n := x.names[node]; !n.known {
			if names, ok := x.Nodes.Published(ctx, node); ok && len(names) > 0 {
				n.known = true
				n.called(names...)
			}
		}
	}
	return all, nil
}

// called gives the nodes that Calico may call by a name: the node of that name, those whose
// agents say so, and those that have not told their name. there is false if no node is known to
// be called so.
func (x *Executor) called(all []string, name string) (nodes []string, there bool) {
	for _, node := range all {
		n := x.names[node]
		is := node == name || slices.Contains(n.names, name)
		there = there || is
		if is || !n.known || len(n.names) == 0 {
			nodes = append(nodes, node)
		}
	}
	return nodes, there
}
