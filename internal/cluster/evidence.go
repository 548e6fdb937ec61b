package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// An Evidence is what is known about one pod, for the time when it is gone: its tables, and the
// lines of its nodes' logs and event logs that are about it.
type Evidence struct {
	Snapshot *model.Snapshot
	Logs     []snapshotio.File
	Nodes    []string                 // whose logs were asked for
	Zones    map[string]string        // of these, by node: the zone of timestamps that have none, if it is known
	Ahead    map[string]time.Duration // of these, by node: how far its clock is ahead, which the lines are not corrected by
	Unread   []string
}

// around is the snapshot with coverage that says what it is: rows of one pod, and not all that there
// are. Nothing is concluded from what is missing in it.
func (u *Scoped) around(namespace, name string) *model.Snapshot {
	s := *u.s
	s.Meta.Schema, s.Meta.Version = model.Schema, u.o.Version
	s.Coverage = nil
	why := "only what surrounds pod " + namespace + "/" + name
	for _, t := range []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Events, model.Blocks, model.Handles, model.HandleCounts, model.Endpoints} {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Partial, Reason: why})
	}
	for _, c := range u.s.Coverage {
		switch {
		case slices.ContainsFunc(s.Coverage, func(o model.Coverage) bool { return o.Table == c.Table && o.Node == c.Node }):
			continue
		case c.Node != "" && c.State == model.Complete:
			c.State, c.Reason = model.Partial, why
		}
		s.Coverage = append(s.Coverage, c)
	}
	return &s
}

// PodEvidence reads what surrounds a pod, and the logs of the nodes concerned since a time.
func PodEvidence(ctx context.Context, o Options, namespace, name string, since time.Time) (*Evidence, error) {
	u, err := OpenScoped(ctx, o)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	_, found, err := u.Pod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	if !found && u.fleet == nil {
		return nil, fmt.Errorf("no pod %s/%s, and no agents whose nodes may have something left of it", namespace, name)
	}
	e := &Evidence{Zones: map[string]string{}, Ahead: map[string]time.Duration{}}
	if u.fleet == nil {
		e.Snapshot, e.Unread = u.around(namespace, name), []string{"no agents are installed: neither node state nor logs"}
		return e, nil
	}
	q := LogQuestion{Pod: namespace + "/" + name, Since: since}
	e.Nodes = u.concerned(ctx, q)
	if !found && !slices.ContainsFunc(e.Nodes, func(n string) bool { f := u.s.NodeState[n]; return f != nil && len(f.Sandboxes) > 0 }) {
		return nil, fmt.Errorf("no pod %s/%s, and no node that answered has a sandbox of it", namespace, name)
	}
	e.Snapshot = u.around(namespace, name)
	for i, a := range u.answers(ctx, q, e.Nodes) {
		node := e.Nodes[i]
		for _, s := range a.unread {
			e.Unread = append(e.Unread, node+": "+s)
		}
		if a.ahead.Abs() > 2*time.Second {
			e.Ahead[node] = a.ahead
		}
		if a.zone != nil {
			e.Zones[node] = a.zone.String()
		}
		for j := range a.texts {
			t := &a.texts[j]
			text, err := readAll(t.Open)
			if err != nil {
				return nil, err
			}
			e.Logs = append(e.Logs, snapshotio.File{Name: path.Join(node, t.Name), Modified: t.Modified, Text: text})
		}
	}
	return e, ctx.Err()
}

func readAll(open func() (io.ReadCloser, error)) (text []byte, err error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}
