package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/cnierror"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// explainHandle shows which addresses an IPAM handle has, and who uses them.
func explainHandle(ctx context.Context, sess *term.Session, id string, f flags) error {
	ref := model.Ref{Kind: model.KindHandle, Name: id}
	r, err := handleReport(ctx, sess, ref, f)
	if err != nil {
		return err
	}
	if term.IsDocument(f.output) {
		return printReport(sess, r, "HandleExplanation", f.output)
	}
	handleText(sess, r, id)
	return nil
}

func handleReport(ctx context.Context, sess *term.Session, ref model.Ref, f flags) (*audit.Report, error) {
	if sess.Bundle != "" {
		return check(ctx, sess, f, func(x *finding.Finding) bool { return slices.Contains(x.About, ref) })
	}
	u, done, err := openScoped(ctx, sess)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := u.Handle(ctx, ref.Name); err != nil {
		return nil, err
	}
	return u.Judge(ctx, f.settle, "", ref), nil
}

func handleText(sess *term.Session, r *audit.Report, id string) {
	v, cols := r.View, sess.Width()
	rows := [][]string{{"ADDRESS", "BLOCK", "RECORDED FOR", "NODE", "SANDBOX", "POD NOW"}}
	for a := range v.AllocationsBy(id) {
		rows = append(rows, handleRow(v, a, id))
	}
	slices.SortFunc(rows[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	record, there := handleRecord(v, id)
	sess.PrintLines(cols, fmt.Sprintf("handle %s: %s; %s in the blocks that were read", plain.ShortIDs(plain.Line(id)), record, plain.Count(len(rows)-1, "address")))
	if len(rows)-1 > cluster.MaxOfHandle && sess.Bundle == "" {
		sess.PrintLines(cols, fmt.Sprintf("Not checked: who has the addresses after the first %d: \"not read\" or \"no such pod\" says nothing about them", cluster.MaxOfHandle))
	}
	if !v.State(model.Blocks, "").Seen() {
		sess.PrintLines(cols, "Not checked: blocks could not be read")
	}
	if !there && sess.Bundle == "" {
		sess.PrintLines(cols, "Not checked: blocks that name this handle: they are found only through its record, or by a whole check (PL1006)")
	}
	if len(rows) > 1 {
		sess.PrintTable(cols, rows)
	}
	findingLines(sess, r)
}

// handleRecord says what the handle's own record counts.
func handleRecord(v *model.View, id string) (says string, there bool) {
	for h := range v.HandlesOf(id) {
		if h.Missing {
			break
		}
		n := 0
		for _, b := range h.Blocks {
			n += b.Count
		}
		return fmt.Sprintf("its record counts %s in %s", plain.Count(n, "address"), plain.Count(len(h.Blocks), "block")), true
	}
	if !v.State(model.Handles, "").Seen() {
		return "its record was not read", false
	}
	return "it has no record of its own", false
}

func handleRow(v *model.View, a *model.Allocation, id string) []string {
	at := v.AttributeOf(a)
	owner, node, now := "-", "-", "-"
	if at != nil {
		node = plain.Dash(at.Node)
		if at.Pod != "" {
			owner = at.Namespace + "/" + at.Pod
			now = "no such pod"
			if !v.State(model.Pods, "").Seen() {
				now = "not read"
			}
			if p := v.PodByName(at.Namespace, at.Pod); p != nil {
				now = string(p.Phase)
				if !slices.Contains(p.IPs, a.IP) {
					now += ", with another address"
				}
			}
		}
	}
	box := "-"
	if s := cnierror.Sandbox(id); s != "" {
		box = fmt.Sprintf("%.12s", s)
		switch row := v.SandboxNamed(node, s); {
		case row != nil:
			box += ", " + ready(row.Ready)
		case v.Sees(node, model.Sandboxes):
			box += ", gone"
		}
	}
	return []string{a.IP.String(), v.Snapshot().Blocks[a.Block].CIDR.String(), plain.Line(owner), plain.Line(node), box, now}
}
