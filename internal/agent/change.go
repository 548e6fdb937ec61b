package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// ChangeWithin is how long an agent takes for a change, at most.
const ChangeWithin = 10 * time.Second

// A NodeObject is the current state of one object of a node that can be changed.
type NodeObject struct {
	Ref    model.Ref       `json:"ref"`
	Digest string          `json:"digest,omitempty"` // of its current state; empty if it does not exist
	Says   string          `json:"says"`             // the same as text
	Body   json.RawMessage `json:"body,omitempty"`
}

// A Change is a request to change one object of a node.
type Change struct {
	Verb   string            `json:"verb"`
	Ref    model.Ref         `json:"ref"`
	Expect string            `json:"expect"` // digest that the object must still have, else the agent refuses
	Args   map[string]string `json:"args,omitempty"`
	DryRun bool              `json:"dryRun,omitempty"` // everything except the change itself
}

// A Changed is the result. At most one of Done, Already and Refused is set; none of them
// means that a dry run found nothing against the change.
type Changed struct {
	Done    bool   `json:"done,omitempty"`
	Already bool   `json:"already,omitempty"` // the object already was as requested
	Refused string `json:"refused,omitempty"` // why nothing was changed
	Digest  string `json:"digest,omitempty"`  // of the object's state now; empty if it does not exist
}

// NodeObject reads an object of a node that can be changed. Args select one if its name is
// not unique.
func (f *Fleet) NodeObject(ctx context.Context, ref model.Ref, args map[string]string) (NodeObject, error) {
	query := url.Values{"kind": {string(ref.Kind)}, "name": {ref.Name}}
	for k, v := range args {
		query.Set(k, v)
	}
	var t NodeObject
	if err := f.json(ctx, ref.OnNode(), PathObject, query, &t); err != nil {
		return NodeObject{}, fmt.Errorf("read %s: %w", ref, err)
	}
	if t.Ref != ref {
		return NodeObject{}, fmt.Errorf("read %s: the agent answered for %s", ref, t.Ref)
	}
	return t, nil
}

// Change requests the agent of a node to change something. After an error it is unknown
// whether the change was made: the caller must reread.
func (f *Fleet) Change(parent context.Context, c Change) (Changed, error) {
	if f.Post == nil {
		return Changed{Refused: "changes on nodes are not enabled for this run"}, nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return Changed{}, fmt.Errorf("%s %s: %w", c.Verb, c.Ref, err)
	}
	ctx, cancel := context.WithTimeout(parent, ChangeWithin+within)
	defer cancel()
	var out Changed
	body, err := f.Post(ctx, c.Ref.OnNode(), PathChange, b)
	err = older(err)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(body, maxJSON)).Decode(&out)
		err = errors.Join(err, body.Close())
	}
	if err != nil {
		return Changed{}, fmt.Errorf("%s %s: %w", c.Verb, c.Ref, err)
	}
	if n := count(out.Done, out.Already, out.Refused != ""); n > 1 || n == 0 && !c.DryRun || out.Done && c.DryRun {
		return Changed{}, fmt.Errorf("%s %s: the agent returned a contradictory answer", c.Verb, c.Ref)
	}
	return out, nil
}

func count(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}
