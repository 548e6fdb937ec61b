package explain

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/ladder"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/page"
	"plumbline.dev/plumbline/internal/plain"
)

//go:embed pod.html
var podHTML string

var podPage = template.Must(template.New("pod").Funcs(template.FuncMap{
	"clean": plain.Line, "short": func(s string) string { return plain.ShortIDs(plain.Line(s)) },
}).Parse(podHTML))

// drawPod shows a pod as a ladder: a picture, or a page with the evidence of its findings.
func drawPod(sess *term.Session, r *audit.Report, pod *model.Pod, output string) error {
	fs := slices.Concat(r.Findings, r.Unconfirmed)
	l := ladder.Of(r, pod, ladder.Viewer{})
	if output == "svg" {
		return l.SVG(sess.Stdout)
	}
	svg, err := l.Inline(nil)
	if err != nil {
		return err
	}
	style := page.Style + ladder.Style()
	return podPage.Execute(sess.Stdout, map[string]any{
		"Policy": template.HTMLAttr(`content="` + page.Policy(style, "") + `"`), //nolint:gosec // our own
		"Style":  template.CSS(style),                                           //nolint:gosec // our own
		"Pod":    pod, "Ladder": svg, "Findings": fs, "Taken": r.Taken.String(), "NotChecked": r.NotChecked(), "Program": sess.Program,
	})
}

// endIn is a pod in a bundle, judged with everything that is in it.
func endIn(ctx context.Context, sess *term.Session, ns, name string, f flags) (e end, done func(), err error) {
	e.ref = model.Ref{Kind: model.KindPod, Name: ns + "/" + name}
	r, err := check(ctx, sess, f, nil)
	if err != nil {
		return e, nil, err
	}
	if e.pod = r.View.PodByName(ns, name); e.pod == nil {
		return e, nil, fmt.Errorf("pod %s is not in this bundle", e.ref.Name)
	}
	e.claims, e.node = ladder.Of(r, e.pod, ladder.Viewer{}).IPs, e.pod.Node
	about := []model.Ref{e.ref, {Kind: model.KindNode, Name: e.node}}
	for _, ip := range e.claims {
		about = append(about, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	others := func(x finding.Finding) bool {
		return !slices.ContainsFunc(x.About, func(a model.Ref) bool { return slices.Contains(about, a) })
	}
	r.Findings, r.Unconfirmed = slices.DeleteFunc(r.Findings, others), slices.DeleteFunc(r.Unconfirmed, others)
	e.r = r
	return e, func() {}, nil
}
