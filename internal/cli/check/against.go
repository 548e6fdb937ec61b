package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// maxReport bounds a file that is compared with.
const maxReport = 256 << 20

// readEarlier reads an earlier check: what check -o json printed, or a bundle of collect.
func readEarlier(ctx context.Context, file string, opts audit.Options) (audit.Earlier, error) {
	f, err := os.Open(file)
	if err != nil {
		return audit.Earlier{}, err
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, 64)
	n, err := io.ReadFull(f, start)
	if err != nil && n == 0 {
		return audit.Earlier{}, fmt.Errorf("%s: %w", file, err)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(start[:n]), []byte("{")) {
		opts.Recall, opts.Suppress = nil, nil
		r, err := cluster.CheckBundle(ctx, file, opts)
		if err != nil {
			return audit.Earlier{}, err
		}
		return audit.EarlierOf(r), nil
	}
	var doc cluster.CheckReport
	if err := json.NewDecoder(io.LimitReader(io.MultiReader(bytes.NewReader(start[:n]), f), maxReport)).Decode(&doc); err != nil || doc.Kind != "CheckReport" {
		return audit.Earlier{}, fmt.Errorf("%s: neither the output of check -o json nor a bundle of collect", file)
	}
	e := audit.Earlier{Taken: doc.Taken, GUID: doc.Cluster.GUID, Confirmed: map[string]bool{}, NotJudged: audit.NotJudged(doc.NotJudged)}
	for _, list := range [][]cluster.NamedFinding{doc.Suppressed, doc.Findings} {
		for j := range list {
			e.Confirmed[list[j].Name] = true
		}
	}
	return e, nil
}

// since compares a check with an earlier one of the same cluster.
func since(r *audit.Report, e audit.Earlier) (*audit.Comparison, error) {
	if guid := r.View.Snapshot().Meta.GUID; guid != "" && e.GUID != "" && guid != e.GUID {
		return nil, fmt.Errorf("--against: it is of another cluster: %s, not %s", plain.Line(e.GUID), guid)
	}
	c := r.Against(e)
	return &c, nil
}

// wholeOnly names a flag that was given and leaves out a part of the cluster.
func (f *flags) wholeOnly() string {
	switch {
	case len(f.codes) > 0:
		return "--code"
	case f.namespace != "":
		return "--namespace"
	case f.selector != "":
		return "--selector"
	case f.node != "":
		return "--node"
	default:
		return ""
	}
}

// onlyNew keeps the findings that are new, for the table and the exit code.
func onlyNew(r *audit.Report, c audit.Comparison) *audit.Report {
	out, fresh := *r, map[string]bool{}
	for _, key := range c.New {
		fresh[key] = true
	}
	out.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool { return !fresh[f.Key()] })
	return &out
}

// compared says what differs.
func compared(sess *term.Session, file string, c audit.Comparison) {
	cols := sess.Width()
	says := fmt.Sprintf("Compared with %s of %s: %d new, %d as before, %d gone", plain.Line(file), c.Taken, len(c.New), c.Same, len(c.Gone))
	if n := len(c.Unknown); n > 0 {
		says += fmt.Sprintf(", %d not judged or not confirmed now", n)
	}
	if c.Unseen > 0 {
		says += fmt.Sprintf("; %d of the new ones could not have been found then", c.Unseen)
	}
	sess.PrintLines(cols, says)
	for _, l := range []struct {
		what string
		keys []string
	}{{"Gone: ", c.Gone}, {"Not judged or not confirmed now: ", c.Unknown}} {
		if n := len(l.keys); n > 0 {
			const few = 10
			text := strings.Join(l.keys[:min(n, few)], ", ")
			if n > few {
				text += fmt.Sprintf(" and %d others (-o json lists all)", n-few)
			}
			sess.PrintLabelled(cols, l.what, plain.Line(text))
		}
	}
}
