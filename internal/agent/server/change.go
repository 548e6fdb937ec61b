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

// A readState is an object as it was just read; nil if it does not exist.
type readState struct {
	body any    // what the digest covers
	says string // the same as text
}

func (t *readState) digest() string {
	if t == nil {
		return ""
	}
	sum := sha256.Sum256(encoded(&t.body))
	return hex.EncodeToString(sum[:16])
}

// A verb is one change to objects of one kind.
type verb struct {
	kind model.Kind
	// gone means that the verb's goal is that the object does not exist.
	gone bool
	// do verifies and changes atomically: it compares t with the current state again as
	// late as the interface to kernel, host or runtime allows, and refuses if it differs.
	// Invariant: begun is false as long as no request to change anything was sent, so an
	// error with begun false means that nothing was changed; an error with begun true means
	// that the result is unknown.
	do func(ctx context.Context, t *readState, args map[string]string, dry bool) (begun bool, err error)
}

// errAlready means that the object already is as requested.
var errAlready = errors.New("already as requested")

// change makes one change at a time on this node. Order: take the turn, check the verb,
// read the object, compare with c.Expect, log the beginning, verify and change, reread, log
// the result. Everything before do refuses without effect. An error means that it is
// unknown whether the change was made.
func (s *Server) change(caller context.Context, c agent.Change) (agent.Changed, error) {
	// A change that has begun is finished even if the caller has disconnected.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), agent.ChangeWithin)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return agent.Changed{Refused: "another change on this node is running; retry"}, nil
	}
	v, err := s.verb(c)
	if err != nil {
		return agent.Changed{Refused: err.Error()}, nil
	}
	t, err := s.read(ctx, c.Ref, c.Args)
	switch {
	case err != nil:
		return agent.Changed{Refused: err.Error()}, nil
	case t == nil && v.gone:
		return agent.Changed{Already: true}, nil
	case t == nil:
		return agent.Changed{Refused: "the object does not exist"}, nil
	case t.digest() != c.Expect:
		return agent.Changed{Refused: "the object has changed since the plan: " + t.says, Digest: t.digest()}, nil
	case caller.Err() != nil:
		return agent.Changed{Refused: "the caller has disconnected"}, nil
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

// verb checks that the verb exists, fits the object and is for this node.
func (s *Server) verb(c agent.Change) (verb, error) {
	v, ok := s.verbs[c.Verb]
	switch {
	case s.writer == nil:
		return v, errReads
	case !ok:
		return v, fmt.Errorf("unknown verb %.40q", c.Verb)
	case v.kind != c.Ref.Kind:
		return v, fmt.Errorf("%s is for a %s, not for a %.40q", c.Verb, v.kind, c.Ref.Kind)
	case c.Ref.OnNode() != s.node:
		return v, errors.New("the object belongs to another node")
	case c.Expect == "":
		return v, errors.New("the change has no expected digest")
	}
	return v, nil
}

// errReads is the refusal of an agent that runs without --repair.
var errReads = errors.New("this agent only reads: it runs without --repair")

// outcome classifies the result and rereads the object.
func (s *Server) outcome(ctx context.Context, c agent.Change, v verb, begun bool, err error) (agent.Changed, error) {
	var out agent.Changed
	switch {
	case errors.Is(err, errAlready), v.gone && isGone(err): // also if another program was faster
		out.Already = true
	case err != nil && begun:
		return out, err
	case err != nil:
		out.Refused = err.Error()
	default:
		out.Done = begun
	}
	s.changed(touched[c.Ref.Kind]...)
	t, err := s.read(ctx, c.Ref, c.Args)
	if err != nil && out.Done {
		return agent.Changed{}, fmt.Errorf("reread: %w", err)
	}
	out.Digest = t.digest()
	return out, nil
}

// touched lists the tables that a change of a kind of object affects.
var touched = map[model.Kind][]model.Table{
	model.KindLink: {model.Links, model.Routes, model.Paths, model.Neighbours, model.Sysctls}, model.KindPath: {model.Routes, model.Paths},
	model.KindNeighbour: {model.Neighbours}, model.KindSysctl: {model.Sysctls}, model.KindMount: {model.Mounts, model.Processes},
	model.KindSandbox: {model.Sandboxes, model.Containers, model.Attachments, model.CNIResults},
}

// enter logs a change. Unlike note it waits for space in the queue.
func (s *Server) enter(ctx context.Context, c agent.Change, t *readState, note string) {
	if c.DryRun {
		note = "dry run: " + note
	}
	e := eventlog.Entry{At: s.now(), By: "agent", What: c.Verb, Of: string(c.Ref.Kind), Name: strings.TrimPrefix(c.Ref.Name, s.node+"/"), Was: encoded(&t.body), Note: note}
	if e.Now, _ = json.Marshal(c.Args); len(c.Args) == 0 {
		e.Now = nil
	}
	select {
	case s.entries <- change{Entry: e}:
	case <-ctx.Done():
	}
}
