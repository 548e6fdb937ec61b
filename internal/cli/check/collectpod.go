package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// runCollectPod saves what is known about one pod, before it is gone.
func runCollectPod(ctx context.Context, sess *term.Session, namespace, name string, f collectFlags) error {
	if sess.Bundle != "" {
		return errors.New("--bundle: collect pod reads the cluster")
	}
	o, done := sess.Options()
	defer done()
	since, err := term.ParseTime(f.since, time.Now()) //nolint:forbidigo // --since 2h is before now
	if err != nil {
		return fmt.Errorf("--since: %w", err)
	}
	e, err := cluster.PodEvidence(ctx, o, namespace, name, since)
	if err != nil {
		return err
	}
	size, err := cluster.WriteBundle(f.file, e.Snapshot, e.Logs...)
	if err != nil {
		return err
	}
	lines, cols := 0, sess.Width()
	for i := range e.Logs {
		lines += strings.Count(string(e.Logs[i].Text), "\n")
	}
	sess.PrintLines(cols, fmt.Sprintf("Wrote    %s, %s: pod %s/%s and what surrounds it, %s of %s from %s",
		f.file, plain.Size(size), namespace, name, plain.Count(lines, "line"), plain.Count(len(e.Logs), "log"), plain.Count(len(e.Nodes), "node")))
	const few = 8
	for i, s := range e.Unread {
		if i == few {
			sess.PrintLines(cols, fmt.Sprintf("Not read and %d others", len(e.Unread)-few))
			break
		}
		sess.PrintLabelled(cols, "Not read ", plain.Line(s))
	}
	for _, node := range slices.Sorted(maps.Keys(e.Ahead)) {
		sess.PrintLines(cols, fmt.Sprintf("Clocks   %s is %s ahead of the API server; its lines keep its own time", node, e.Ahead[node].Round(time.Second)))
	}
	if len(e.Logs) == 0 {
		sess.Next("check --bundle %s", plain.Quoted(f.file))
		return nil
	}
	zone := ""
	if zones := slices.Compact(slices.Sorted(maps.Values(e.Zones))); len(zones) == 1 && len(e.Zones) == len(e.Nodes) && zones[0] != "+00:00" {
		zone = " --tz=" + zones[0]
	} else if len(zones) > 1 {
		sess.PrintLines(cols, "Zones    differ between the nodes: read the logs of one at a time, with --tz "+strings.Join(zones, " or "))
	}
	sess.Next("timeline --logs %s%s", plain.Quoted(f.file), zone)
	return nil
}
