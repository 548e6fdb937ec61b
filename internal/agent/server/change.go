package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
)

// A sight is a thing as it was just read: nil if it is not there.
type readState struct {
	body any
	says string
}

func (t *readState) digest() string {
	if t == nil {
		return ""
	}
	sum := sha256.Sum256(encoded(&t.body))
	return hex.EncodeToString(sum[:16])
}

// A verb does one thing to things of one kind.
type verb struct {
	kind model.Kind
	// gone means that a thing that is not there is what the verb is for.
	gone bool
	// do compares again in the same breath as it acts. Begun tells that the world was told
	// to change; an error before that means that nothing was done.
	do func(ctx context.Context, t *readState, args map[string]string, dry bool) (begun bool, err error)
}

// errAlready means that it is so already.
var errAlready = errors.New("it is so already")

// change does one thing at a time. An error means that nobody knows whether it was done.
func (s *Server) change(caller context.Context, c agent.Change) (agent.Changed, error) {
	// What was begun is brought to its end, whoever has hung up meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), agent.ChangeWithin)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return agent.Changed{Refused: "another change is under way"}, nil
	}
	v, err := s.verb(c)
	if err != nil {
		return agent.Changed{Refused: err.Error()}, nil
	}
	t, err := s.poll(ctx, c.Ref, c.Args)
	switch {
	case err != nil:
		return agent.Changed{Refused: err.Error()}, nil
	case t == nil && v.gone:
		return agent.Changed{Already: true}, nil
	case t == nil:
		return agent.Changed{Refused: "it is not there"}, nil
	case t.digest() != c.Expect:
		return agent.Changed{Refused: "it is not what it was: " + t.says, Digest: t.digest()}, nil
	case caller.Err() != nil:
		return agent.Changed{Refused: "whoever asked is gone"}, nil
	}
	s.enter(ctx, c, t, "begins")
	begun, err := v.do(ctx, t, c.Args, c.DryRun)
	out, err := s.outcome(ctx, c, v, begun, err)
	note := cut(fmt.Sprintf("%+v", out), 300)
	if err != nil {
		note = "unknown: " + err.Error()
	}
	s.enter(ctx, c, t, note)
	return out, err
}

// verb tells which one is meant, and that it is for us.
func (s *Server) verb(c agent.Change) (verb, error) {
	v, ok := s.verbs[c.Verb]
	switch {
	case s.writer == nil:
		return v, errReads
	case !ok:
		return v, fmt.Errorf("no such verb: %.40q", c.Verb)
	case v.kind != c.Ref.Kind:
		return v, fmt.Errorf("%s is for a %s, not for a %.40q", c.Verb, v.kind, c.Ref.Kind)
	case c.Ref.OnNode() != s.node:
		return v, errors.New("it is of another node")
	case c.Expect == "":
		return v, errors.New("what is expected is not said")
	}
	return v, nil
}

// errReads is for an agent that was not given the means to change anything.
var errReads = errors.New("this agent only reads")

// outcome words what came of it.
func (s *Server) outcome(ctx context.Context, c agent.Change, v verb, begun bool, err error) (agent.Changed, error) {
	var out agent.Changed
	switch {
	case errors.Is(err, errAlready), v.gone && isGone(err): // also if somebody was quicker
		out.Already = true
	case err != nil && begun:
		return out, err
	case err != nil:
		out.Refused = err.Error()
	default:
		out.Done = begun
	}
	s.changed(touched[c.Ref.Kind]...)
	t, err := s.poll(ctx, c.Ref, c.Args)
	if err != nil && out.Done {
		return agent.Changed{}, fmt.Errorf("look again: %w", err)
	}
	out.Digest = t.digest()
	return out, nil
}

// touched are the tables that a change of a kind of thing shows in.
var touched = map[model.Kind][]model.Table{
	model.KindLink: {model.Links, model.Routes, model.Paths, model.Neighbours, model.Sysctls}, model.KindPath: {model.Routes, model.Paths},
	model.KindNeighbour: {model.Neighbours}, model.KindSysctl: {model.Sysctls}, model.KindMount: {model.Mounts, model.Processes},
	model.KindSandbox: {model.Sandboxes, model.Containers, model.Attachments, model.CNIResults},
}

// enter takes a change down, unlike what is only seen: it waits for its place.
func (s *Server) enter(ctx context.Context, c agent.Change, t *readState, note string) {
	if c.DryRun {
		note = "dry run: " + note
	}
	e := eventlog.Entry{At: s.now(), By: "agent", What: c.Verb, Of: string(c.Ref.Kind), Name: strings.TrimPrefix(c.Ref.Name, s.node+"/"), Was: encoded(&t.body), Note: note}
	if e.Now, _ = json.Marshal(c.Args); len(c.Args) == 0 {
		e.Now = nil
	}
	select {
	case s.entries <- e:
	case <-ctx.Done():
	}
}
