package execute

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// nodeAnswers is a full verification by a node (all sandboxes, records and calls) and its time.
type nodeAnswers struct {
	answer
	at time.Time
}

// allNodesFor is how long a full verification is valid. It is used only for proofs about
// containers without addresses: to lower or remove a handle. That is safe although the
// verification may be older than the read of the handle, however much: it is newer than the
// plan, and the handle is written only at the revision in the plan (Count.Unchanged). A
// container writes its handle before it uses it, so a container that no node had then and whose
// handle was not written since is gone; and a CNI call that counted before the plan and has not
// yet written its block is in that verification. Thousands of nodes take most of a minute.
const allNodesFor = 15 * time.Minute

// asksAllNodes reports that a proof is about containers only, on all nodes. Then each node is
// asked once for everything, instead of once per finding: there may be tens of thousands.
func asksAllNodes(d *change.NotInUse) bool { return d.All && len(d.IPs) == 0 }

// allNodes asks the nodes that have not been asked for a while. It returns those whose answers
// can contradict that the containers are gone, and the answer of each: no others can.
func (x *Executor) allNodes(ctx context.Context, nodes, containers []string) (concerned []string, of func(node string) answer) {
	at := x.Now()
	due := slices.DeleteFunc(slices.Clone(nodes), func(n string) bool {
		r := x.rolls[n]
		return r != nil && r.err == nil && at.Sub(r.at) <= allNodesFor
	})
	answers := x.askEach(ctx, due, func(ctx context.Context, n string) answer {
		w, err := x.Nodes.Ask(ctx, n, nil, nil)
		if err == nil && !w.All {
			err = fmt.Errorf("its answer is not a full verification")
		}
		return answer{w, err}
	})
	for i, n := range due {
		x.rolls[n] = &nodeAnswers{answers[i], at}
	}
	if x.rolled == nil || len(due) > 0 || !slices.Equal(x.rolled.nodes, nodes) {
		x.rolled = usersOf(nodes, func(n string) *model.Verification {
			if r := x.rolls[n]; r.err == nil {
				return &r.w
			}
			return nil
		})
	}
	return x.rolled.of(containers, nil), func(n string) answer { return x.rolls[n].answer }
}
