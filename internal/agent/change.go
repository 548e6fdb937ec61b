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

// A NodeObject is one thing of a node that can be changed, read now.
type NodeObject struct {
	Ref    model.Ref       `json:"ref"`
	Digest string          `json:"digest,omitempty"` // of what it is; empty if it is not there
	Says   string          `json:"says"`             // the same for people
	Body   json.RawMessage `json:"body,omitempty"`
}

// A Change is what an agent is told to do.
type Change struct {
	Verb   string            `json:"verb"`
	Ref    model.Ref         `json:"ref"`
	Expect string            `json:"expect"` // the digest that the thing must still have
	Args   map[string]string `json:"args,omitempty"`
	DryRun bool              `json:"dryRun,omitempty"` // everything but the change itself
}

// A Changed is what came of it. With none of the first three set it would be done: it was
// a dry run.
type Changed struct {
	Done    bool   `json:"done,omitempty"`
	Already bool   `json:"already,omitempty"` // it was so when we came
	Refused string `json:"refused,omitempty"` // why nothing was done
	Digest  string `json:"digest,omitempty"`  // of what the thing is now; empty if it is gone
}

// NodeObject reads something of a node that can be changed. Args say which, where its name is
// that of several.
func (f *Fleet) NodeObject(ctx context.Context, ref model.Ref, args map[string]string) (NodeObject, error) {
	query := url.Values{"kind": {string(ref.Kind)}, "name": {ref.Name}}
	for k, v := range args {
		query.Set(k, v)
	}
	var t NodeObject
	if err := f.json(ctx, ref.OnNode(), PathThing, query, &t); err != nil {
		return NodeObject{}, fmt.Errorf("read %s: %w", ref, err)
	}
	if t.Ref != ref {
		return NodeObject{}, fmt.Errorf("read %s: its agent answers of %s", ref, t.Ref)
	}
	return t, nil
}

// Change has the agent of a node change something. An error leaves open whether it was
// done: the next look decides.
func (f *Fleet) Change(parent context.Context, c Change) (Changed, error) {
	if f.Post == nil {
		return Changed{Refused: "nobody may change anything here"}, nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return Changed{}, fmt.Errorf("%s %s: %w", c.Verb, c.Ref, err)
	}
	ctx, cancel := context.WithTimeout(parent, ChangeWithin+within)
	defer cancel()
	var out Changed
	body, err := f.Post(ctx, c.Ref.OnNode(), PathChange, b)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(body, maxJSON)).Decode(&out)
		err = errors.Join(err, body.Close())
	}
	if err != nil {
		return Changed{}, fmt.Errorf("%s %s: %w", c.Verb, c.Ref, err)
	}
	if n := count(out.Done, out.Already, out.Refused != ""); n > 1 || n == 0 && !c.DryRun || out.Done && c.DryRun {
		return Changed{}, fmt.Errorf("%s %s: the agent's answer makes no sense", c.Verb, c.Ref)
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
