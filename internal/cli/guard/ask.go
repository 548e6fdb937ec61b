package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// openAgents finds the agents of the cluster, or of one node.
func openAgents(ctx context.Context, sess *term.Session, node string) (agents, error) {
	if sess.Bundle != "" {
		return nil, errors.New("a bundle has nothing about guards: run this against the cluster")
	}
	o, done := sess.Options()
	defer done()
	p, err := cluster.OpenGuards(ctx, o, node)
	if errors.Is(err, cluster.ErrNoAgents) {
		return nil, fmt.Errorf("%w, so the guards cannot be read: docs/agent.md describes how to install them", err)
	}
	return p, err
}

// agents are the agents that can be asked about guards.
type agents interface {
	Status(ctx context.Context) ([]cluster.GuardStatus, map[string]error)
	Off(ctx context.Context) (configMap string, err error)
	InConfigs(ctx context.Context, nodes []string) map[string]error
	Calls(ctx context.Context, q cluster.CallQuestion) (map[string][]cluster.GuardCall, map[string]error)
}

// guards are what the nodes report of their guards.
type guards struct {
	said   []cluster.GuardStatus // by node
	unread map[string]error
}

// unreadNodes says for each reason which nodes did not answer.
func unreadNodes(unread map[string]error) []string {
	by := map[string][]string{}
	for node, err := range unread {
		by[err.Error()] = append(by[err.Error()], node)
	}
	var out []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		out = append(out, fmt.Sprintf("%s: %s", plain.FewOf(by[why]), why))
	}
	slices.Sort(out)
	return out
}

// An unreadNode is a node that did not answer, and why.
type unreadNode struct {
	Node string `json:"node"` // that did not answer
	Why  string `json:"why"`  // in words
}

func unreadList(unread map[string]error) []unreadNode {
	out := []unreadNode{}
	for _, node := range slices.Sorted(maps.Keys(unread)) {
		out = append(out, unreadNode{node, unread[node].Error()})
	}
	return out
}

// gaps is the exit code if a node did not answer.
func gaps(unread map[string]error) error {
	if len(unread) > 0 {
		return term.ExitGaps
	}
	return nil
}

// printUnread says which nodes did not answer.
func printUnread(sess *term.Session, unread map[string]error) {
	for _, l := range unreadNodes(unread) {
		sess.PrintLabelled(sess.Width(), "No answer: ", l)
	}
}
